//! Connections.
//!
//! Not `reqwest`: its URLs fold `.` and `..`, which are parts of keys here.

use super::body::Chunks;
use crate::connect::client::certificates;
use crate::{ConnectOptions, Error, Result};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;

/// A client that keeps connections.
pub(super) type Http = Client<HttpsConnector<HttpConnector>, Chunks>;

/// How long a connection is kept that nobody uses.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// A client for a server with or without TLS.
pub(super) fn client(options: &ConnectOptions, tls: bool) -> Result<Http> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_connect_timeout(Some(options.connect_timeout));
    // A small request must not wait for the acknowledgement of the one before.
    tcp.set_nodelay(true);
    let own = certificates(options, |pem| CertificateDer::pem_slice_iter(pem).collect::<std::result::Result<_, _>>())?;
    let roots = if tls { roots(own)? } else { RootCertStore::empty() };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::BadOption(format!("TLS: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().wrap_connector(tcp);
    let mut builder = Client::builder(TokioExecutor::new());
    Ok(builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_MAX).build(connector))
}

/// The system's authorities, and those that the options name.
fn roots(own: Vec<CertificateDer<'static>>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    // One that can't be read is left out: connections that need it say so.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for certificate in own {
        let added = roots.add(certificate);
        added.map_err(|error| Error::BadOption(format!("a certificate in the CA file: {error}")))?;
    }
    Ok(roots)
}
