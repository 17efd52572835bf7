//! What is the same for every provider that is reached over HTTP.

use super::ConnectOptions;
use crate::{Error, Result, redact};
use object_store::{BackoffConfig, Certificate, ClientOptions, RetryConfig};
use std::time::Duration;

/// The options of the HTTP client.
pub(super) fn client_options(options: &ConnectOptions, endpoint: Option<&str>) -> Result<ClientOptions> {
    let mut client = ClientOptions::new()
        .with_timeout(options.request_timeout)
        .with_connect_timeout(options.connect_timeout)
        .with_pool_idle_timeout(Duration::from_secs(60))
        .with_allow_http(endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")));
    for certificate in certificates(options, Certificate::from_pem_bundle)? {
        client = client.with_root_certificate(certificate);
    }
    Ok(client)
}

/// The certificates in the CA file of the options, if they name one.
pub(crate) fn certificates<T, E: std::fmt::Display>(
    options: &ConnectOptions,
    parse: impl FnOnce(&[u8]) -> std::result::Result<Vec<T>, E>,
) -> Result<Vec<T>> {
    let Some(file) = &options.ca_file else {
        return Ok(Vec::new());
    };
    let bad = |reason: String| Error::BadOption(format!("the CA file {}: {reason}", file.display()));
    let pem = std::fs::read(file).map_err(|error| bad(error.to_string()))?;
    let certificates = parse(&pem).map_err(|error| bad(redact::short(&error.to_string())))?;
    if certificates.is_empty() {
        return Err(bad("it has no PEM certificate".to_owned()));
    }
    Ok(certificates)
}

/// The client's own retries: none, so that our layer decides. It must know of every attempt, as a repeated conditional put is
/// refused because of the one before it.
pub(super) fn no_retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 0, retry_timeout: Duration::ZERO }
}

/// Checks the form of an endpoint, and refuses secrets in it.
pub(crate) fn endpoint(text: &str) -> Result<String> {
    let bad = |reason: &str| Error::BadOption(format!("the endpoint '{}' {reason}", redact::short(text)));
    let url = url::Url::parse(text).map_err(|_| bad("is not a URL: write it as https://host:port"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("must begin with http:// or https:// and name a host"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(bad("must have no user, password or query: credentials come from elsewhere"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Whether requests to an endpoint (Amazon's own without) are safe from damage on the way, so that their payload may go
/// unsigned: its signature costs five times the processor time of all the rest. On a network without TLS it is what
/// notices damage.
pub(crate) fn is_protected(endpoint: Option<&str>) -> bool {
    endpoint.is_none_or(|endpoint| endpoint.starts_with("https://") || is_loopback(endpoint))
}

/// Whether what is sent to an endpoint never leaves this machine.
pub(super) fn is_loopback(endpoint: &str) -> bool {
    url::Url::parse(endpoint).is_ok_and(|url| match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    })
}

/// The error for a builder that refuses its options.
pub(super) fn refused(store: &str, error: &object_store::Error) -> Error {
    Error::BadOption(format!("{store}: {}", redact::short(&redact::chain(error))))
}
