//! Amazon S3, and what speaks its protocol.

use super::{ConnectOptions, client};
use crate::{Error, Location, Result, redact};
use async_trait::async_trait;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use object_store::CredentialProvider;
use object_store::aws::{AmazonS3, AmazonS3Builder, AwsCredential, AwsCredentialProvider, Checksum, S3ConditionalPut};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;

/// Credentials are asked for anew this long before they expire.
const EARLY: Duration = Duration::from_secs(300);

/// And at least this often, so that a changed file or environment is noticed.
const KEPT_MAX: Duration = Duration::from_secs(300);

/// After this long at the earliest, if that gave none, or such as expire soon.
const AGAIN: Duration = Duration::from_secs(30);

/// How long the search for credentials may take; a machine outside of EC2 waits for its metadata service in vain.
const SEARCH_MAX: Duration = Duration::from_secs(20);

/// Where S3 buckets are when nobody says otherwise.
const REGION: &str = "us-east-1";

pub(super) async fn connect(location: &Location, bucket: &str, options: &ConnectOptions) -> Result<AmazonS3> {
    let access = find(location, options).await?;
    build(bucket, access.endpoint.as_deref(), &access.region, options, access.credentials)
}

/// What it takes to reach a bucket.
#[derive(Debug)]
pub(crate) struct Access {
    /// The server's address, if it is not Amazon's.
    pub(crate) endpoint: Option<String>,
    /// The region, as far as anyone has said.
    pub(crate) region: String,
    /// Credentials, each time they are needed; without, requests go unsigned.
    pub(crate) credentials: Option<AwsCredentialProvider>,
}

/// Looks for it where Amazon's own tools do.
pub(crate) async fn find(location: &Location, options: &ConnectOptions) -> Result<Access> {
    let mut loader = aws_config::defaults(BehaviorVersion::latest());
    if let Some(profile) = &options.profile {
        loader = loader.profile_name(profile);
    }
    if let Some(region) = &options.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if options.anonymous {
        loader = loader.no_credentials();
    }
    let config = loader.load().await;
    let from_environment = || {
        let specific = std::env::var("AWS_ENDPOINT_URL_S3").ok().filter(|url| !url.is_empty());
        specific.or_else(|| config.endpoint_url().map(str::to_owned))
    };
    let endpoint = options.endpoint.clone().or_else(from_environment);
    let endpoint = endpoint.as_deref().map(client::endpoint).transpose()?;
    let region = config.region().map_or(REGION, Region::as_ref);
    let credentials: Option<AwsCredentialProvider> = match options.anonymous {
        true => None,
        false => Some(Arc::new(chain(location, &config).await?)),
    };
    Ok(Access { endpoint, region: region.to_owned(), credentials })
}

/// The client of one bucket; without credentials, requests go unsigned.
pub(crate) fn build(
    bucket: &str,
    endpoint: Option<&str>,
    region: &str,
    options: &ConnectOptions,
    credentials: Option<AwsCredentialProvider>,
) -> Result<AmazonS3> {
    let path_style = options.path_style.unwrap_or(endpoint.is_some());
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region(region)
        .with_virtual_hosted_style_request(!path_style)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_unsigned_payload(client::is_protected(endpoint))
        .with_retry(client::no_retries())
        .with_client_options(client::client_options(options, endpoint)?);
    if options.checksum {
        builder = builder.with_checksum_algorithm(Checksum::CRC64NVME);
    }
    if let Some(endpoint) = endpoint {
        builder = builder.with_endpoint(bucket_endpoint(endpoint, bucket, path_style));
    }
    builder = match credentials {
        Some(credentials) => builder.with_credentials(credentials),
        None => builder.with_skip_signature(true),
    };
    builder.build().map_err(|error| client::refused("S3", &error))
}

/// With the bucket in the host's name, the client wants it in the endpoint, too.
fn bucket_endpoint(endpoint: &str, bucket: &str, path_style: bool) -> String {
    match endpoint.split_once("://") {
        Some((scheme, host)) if !path_style => format!("{scheme}://{bucket}.{host}"),
        _ => endpoint.to_owned(),
    }
}

/// The chain of credentials, once it has given some.
async fn chain(location: &Location, config: &SdkConfig) -> Result<Chain> {
    let missing = |tried: String| Error::NoCredentials { store: location.to_string(), tried };
    const PLACES: &str = "the environment (AWS_ACCESS_KEY_ID), the profile in ~/.aws, web identity, ECS and EC2 roles";
    let Some(provider) = config.credentials_provider() else {
        return Err(missing(PLACES.to_owned()));
    };
    let chain = Chain { provider, kept: Mutex::new(None) };
    match tokio::time::timeout(SEARCH_MAX, chain.get()).await {
        Ok(Ok(_)) => Ok(chain),
        Ok(Err(error)) => Err(missing(format!("{PLACES} ({})", redact::short(&redact::chain(&error))))),
        Err(_) => Err(missing(format!("{PLACES} (no answer within {} s)", SEARCH_MAX.as_secs()))),
    }
}

/// The credentials of the standard chain, kept until they are about to expire.
struct Chain {
    provider: SharedCredentialsProvider,
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    credential: Arc<AwsCredential>,
    /// When they are asked for anew.
    until: SystemTime,
    expiry: Option<SystemTime>,
}

impl Kept {
    fn new(found: &Credentials, now: SystemTime) -> Self {
        let credential = AwsCredential {
            key_id: found.access_key_id().to_owned(),
            secret_key: found.secret_access_key().to_owned(),
            token: found.session_token().map(str::to_owned),
        };
        Self { credential: Arc::new(credential), until: kept_until(found, now), expiry: found.expiry() }
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chain").finish_non_exhaustive()
    }
}

impl Chain {
    async fn get(
        &self,
    ) -> std::result::Result<Arc<AwsCredential>, aws_credential_types::provider::error::CredentialsError> {
        // One asks, and the others wait for what it gets.
        let mut kept = self.kept.lock().await;
        let now = SystemTime::now();
        if let Some(kept) = kept.as_ref().filter(|kept| now < kept.until) {
            return Ok(Arc::clone(&kept.credential));
        }
        match (self.provider.provide_credentials().await, kept.as_mut()) {
            (Ok(found), _) => Ok(Arc::clone(&kept.insert(Kept::new(&found, now)).credential)),
            (Err(error), Some(kept)) if kept.expiry.is_none_or(|expiry| now < expiry) => {
                let why = redact::short(&redact::chain(&error));
                tracing::warn!(%why, "the credentials can't be renewed: going on with those that there are");
                kept.until = kept.expiry.map_or(now + AGAIN, |expiry| expiry.min(now + AGAIN));
                Ok(Arc::clone(&kept.credential))
            }
            (Err(error), _) => Err(error),
        }
    }
}

fn kept_until(found: &Credentials, now: SystemTime) -> SystemTime {
    let latest = now + KEPT_MAX;
    match found.expiry() {
        Some(expiry) => latest.min(expiry.checked_sub(EARLY).unwrap_or(now)).max(expiry.min(now + AGAIN)),
        None => latest,
    }
}

#[async_trait]
impl CredentialProvider for Chain {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        // Wrapped as unauthenticated: it is retried for as long as wrong credentials are, as a session may be renewed.
        self.get()
            .await
            .map_err(|error| object_store::Error::Unauthenticated { path: String::new(), source: Box::new(error) })
    }
}

#[cfg(test)]
mod tests;
