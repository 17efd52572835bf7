//! From a location to a store.

pub(crate) mod aws;
mod azure;
pub(crate) mod client;
mod gcs;
mod uploads;

use crate::s3::CustomerKey;
use crate::{Directory, Error, Health, Limit, Location, Meter, Result, Retry, RetryPolicy};
use futures::TryStreamExt;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::prefix::PrefixStore;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use uploads::Uploads;

/// How to reach a location. Carries no secrets but [`ConnectOptions::customer_key`]: the others come from the places where each
/// provider's own tools look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The server's address, such as `https://minio.example.com:9000`, if it is not the provider's own. With `http://`
    /// nothing is encrypted on the way.
    pub endpoint: Option<String>,
    /// The region of the bucket; otherwise the profile's or the environment's.
    pub region: Option<String>,
    /// Whether the bucket stands in the path (`host/bucket`) instead of in the host's name; by default, when there is an
    /// endpoint.
    pub path_style: Option<bool>,
    /// A PEM file with the certificate authorities to trust besides the system's.
    pub ca_file: Option<PathBuf>,
    /// The profile in `~/.aws/config` to use.
    pub profile: Option<String>,
    /// Whether requests go unsigned, to a public bucket.
    pub anonymous: bool,
    /// Whether requests say that the requester pays for them, as some public buckets demand. Only [`crate::s3`] says so.
    pub requester_pays: bool,
    /// The key of objects that the server encrypts with a key of its user (SSE-C). Only [`crate::s3`] knows it: with it those
    /// objects are read, and written as [`crate::s3::Encryption::Customer`] says.
    pub customer_key: Option<CustomerKey>,
    /// Whether uploads carry a CRC64NVME that the server verifies. Off only for servers that refuse it.
    pub checksum: bool,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long one request may take from its first byte to its last; a request without progress is given up earlier, by
    /// [`RetryPolicy::attempt`].
    pub request_timeout: Duration,
    /// How many requests may be under way at once.
    pub requests_max: usize,
    /// How failed requests are repeated.
    pub retry: RetryPolicy,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            endpoint: None,
            region: None,
            path_style: None,
            ca_file: None,
            profile: None,
            anonymous: false,
            requester_pays: false,
            customer_key: None,
            checksum: true,
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(600),
            requests_max: 128,
            retry: RetryPolicy::default(),
        }
    }
}

/// A store with its layers, and handles on them. Clones share everything.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The store: prefixed, counted, limited, and repeating failed requests under [`ConnectOptions::retry`].
    pub store: Arc<dyn ObjectStore>,
    /// Counts every attempt.
    pub meter: Meter,
    /// Records every failure.
    pub health: Health,
    limited: Arc<dyn ObjectStore>,
    retry: RetryPolicy,
}

impl Connected {
    /// Puts the layers (meter, limit, retry) around a provider: for tests, with faults in between.
    #[must_use]
    pub fn over(provider: Arc<dyn ObjectStore>, options: &ConnectOptions) -> Self {
        let (meter, health) = (Meter::new(), Health::default());
        let limited: Arc<dyn ObjectStore> = Arc::new(Limit::new(meter.wrap(provider), options.requests_max));
        let store = Arc::new(Retry::new(Arc::clone(&limited), options.retry, health.clone()));
        Self { store, meter, health, limited, retry: options.retry }
    }

    /// The same store, but giving up after `patience`: for commands that a person waits for. It shares the meter, the
    /// limit and the health record.
    #[must_use]
    pub fn patient_for(&self, patience: Duration) -> Arc<dyn ObjectStore> {
        let policy = self.retry.with_patience(patience);
        Arc::new(Retry::new(Arc::clone(&self.limited), policy, self.health.clone()))
    }

    /// Finds out whether the store answers at all, by listing one page, giving up after `patience`.
    ///
    /// # Errors
    /// What a person has to put right: the endpoint, TLS, the credentials, the bucket's name, the region, the rights.
    pub async fn check(&self, patience: Duration) -> Result<()> {
        let store = self.patient_for(patience);
        let first = store.list(None).try_next().await;
        first.map(|_| ()).map_err(|error| Error::from_store("listing the bucket", &error))
    }
}

/// Makes a store of `location`. Nothing is asked of the store itself yet: see [`Connected::check`] and [`crate::probe()`].
///
/// Credentials, where needed, are looked for as each provider's own tools do, which reads the environment:
/// - S3: environment, profiles (also SSO and `credential_process`), web identity, ECS, EC2. The region and the endpoint come
///   from there too (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`), when the options have none.
/// - Google Cloud Storage: `GOOGLE_*`, the application default credentials, the metadata server.
/// - Azure: `AZURE_STORAGE_ACCOUNT_NAME`, `AZURE_*`, managed identity.
///
/// # Errors
/// [`Error::NoCredentials`], [`Error::BadOption`] for an option that can't be used, and those of [`Directory::open`].
pub async fn connect(location: &Location, options: &ConnectOptions) -> Result<Connected> {
    let provider: Arc<dyn ObjectStore> = match location {
        Location::S3 { bucket, .. } => Arc::new(Uploads::new(aws::connect(location, bucket, options).await?)),
        Location::Gcs { bucket, .. } => Arc::new(Uploads::new(gcs::connect(bucket, options)?)),
        Location::Azure { container, .. } => Arc::new(Uploads::new(azure::connect(container, options)?)),
        Location::Memory => Arc::new(InMemory::new()),
        Location::Directory(path) => {
            let path = path.clone();
            let opened = tokio::task::spawn_blocking(move || Directory::open(path)).await;
            let directory = opened.map_err(|error| Error::BadOption(format!("opening the directory: {error}")))??;
            // A file system call can't be taken back: one given up as a timeout could still take effect later.
            let retry = RetryPolicy { attempt: None, ..options.retry };
            let options = ConnectOptions { retry, ..options.clone() };
            return Ok(Connected::over(Arc::new(directory), &options));
        }
    };
    Ok(Connected::over(prefixed(provider, location), options))
}

/// `provider`, with the prefix of `location` before every key.
fn prefixed(provider: Arc<dyn ObjectStore>, location: &Location) -> Arc<dyn ObjectStore> {
    let prefix = location.prefix();
    if prefix.is_root() { provider } else { Arc::new(PrefixStore::new(provider, prefix)) }
}

/// As [`connect`] for S3, with keys that are given instead of found: for tests.
#[cfg(feature = "testing")]
pub(crate) fn connect_with_keys(
    location: &Location,
    options: &ConnectOptions,
    access_key: &str,
    secret_key: &str,
) -> Result<Connected> {
    let Location::S3 { bucket, .. } = location else {
        return Err(Error::BadOption(format!("{location} is not on S3")));
    };
    let credential = object_store::aws::AwsCredential {
        key_id: access_key.to_owned(),
        secret_key: secret_key.to_owned(),
        token: None,
    };
    let credentials = Arc::new(object_store::StaticCredentialProvider::new(credential));
    let endpoint = options.endpoint.as_deref().map(client::endpoint).transpose()?;
    let provider = aws::build(bucket, endpoint.as_deref(), "us-east-1", options, Some(credentials))?;
    Ok(Connected::over(prefixed(Arc::new(Uploads::new(provider)), location), options))
}

#[cfg(test)]
mod tests;
