//! The S3 server that a system is measured with: a fresh one each time, behind the proxy.

use crate::proxy::{Proxy, Traffic};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use stoa_tests::{StoreKind, TestStore, Watch};

/// Longer than any run: rows have limits of their own.
const NO_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

pub(crate) const BUCKET: &str = "volumes";
pub(crate) const REGION: &str = "us-east-1";

/// How the store is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Through the proxy, with this much added to each request.
    Proxied(Duration),
    /// Without it: what does the proxy itself cost?
    Direct,
}

/// A server with an empty bucket.
#[derive(Debug)]
pub(crate) struct Store {
    // Dropped first: it has connections to the server.
    proxy: Option<Proxy>,
    endpoint: String,
    key: (String, String),
    _server: TestStore,
    watch: Watch,
}

impl Store {
    /// Starts one that keeps its objects below `scratch`.
    pub(crate) fn start(scratch: &Path, way: Way) -> Result<Self> {
        let watch = Watch::start("the S3 server", NO_LIMIT);
        let server = TestStore::start(StoreKind::s3(), scratch, &watch)?;
        let access = server.access();
        let variable = |name: &str| access.env.iter().find(|(found, _)| *found == name).map(|(_, value)| value.clone());
        let key = variable("AWS_ACCESS_KEY_ID").zip(variable("AWS_SECRET_ACCESS_KEY")).context("no key")?;
        let direct = access.args.get(1).and_then(|endpoint| endpoint.to_str()).context("no endpoint")?;
        let proxy = match way {
            Way::Direct => None,
            Way::Proxied(latency) => {
                let address: SocketAddr = direct.trim_start_matches("http://").parse().context("the endpoint")?;
                Some(Proxy::start(address, latency)?)
            }
        };
        let endpoint = proxy.as_ref().map_or(direct.to_owned(), |proxy| format!("http://{}", proxy.address()));
        Ok(Self { proxy, endpoint, key, _server: server, watch })
    }

    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub(crate) fn access_key(&self) -> &str {
        &self.key.0
    }

    pub(crate) fn secret_key(&self) -> &str {
        &self.key.1
    }

    /// The variables in which every client looks for credentials.
    pub(crate) fn credentials(&self) -> [(&'static str, &str); 2] {
        [("AWS_ACCESS_KEY_ID", self.access_key()), ("AWS_SECRET_ACCESS_KEY", self.secret_key())]
    }

    /// What went over the proxy so far, if there is one.
    pub(crate) fn traffic(&self) -> Option<Traffic> {
        self.proxy.as_ref().map(Proxy::traffic)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.watch.stop();
    }
}
