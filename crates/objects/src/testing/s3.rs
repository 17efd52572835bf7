//! An S3 server in this process: over HTTP, with real signatures, in memory, failing on demand.

mod bucket;
mod carried;
mod copies;
mod deletes;
mod faults;
mod listing;
mod sealed;
mod serve;
mod service;
mod tags;
mod uploads;
mod versions;

use crate::s3::S3Bucket;
use crate::{ConnectOptions, Connected, Location, Result};
use bucket::Bucket;
pub use faults::{S3Fault, S3Faults};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A running server. It stops when this is dropped, and what it kept is gone.
#[derive(Debug)]
pub struct S3Server {
    /// Where it listens, as `http://127.0.0.1:port`.
    pub endpoint: String,
    /// The access key that it accepts.
    pub access_key: String,
    /// The secret key that it accepts.
    pub secret_key: String,
    /// Its faults, switched while it runs.
    pub faults: S3Faults,
    buckets: Buckets,
    task: JoinHandle<()>,
}

type Buckets = Arc<Mutex<BTreeMap<String, Bucket>>>;

impl S3Server {
    /// Starts a server with one empty bucket, on a port of its own.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(bucket: &str) -> std::io::Result<Self> {
        let buckets = Buckets::default();
        buckets.lock().insert(bucket.to_owned(), Bucket::default());
        let (access_key, secret_key) = ("AKIATESTTESTTESTTEST".to_owned(), "not-much-of-a-secret-in-a-test".to_owned());
        let faults = S3Faults::default();
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let service = service::build(Arc::clone(&buckets), &access_key, &secret_key);
        let task = tokio::spawn(serve::serve(listener, service, faults.clone()));
        Ok(Self { endpoint, access_key, secret_key, faults, buckets, task })
    }

    /// Connects to a location on this server, with its keys.
    ///
    /// # Errors
    /// When `location` is not on S3, or an option can't be used.
    pub fn connect(&self, location: &Location, options: &ConnectOptions) -> Result<Connected> {
        self.connect_as(location, options, &self.access_key, &self.secret_key)
    }

    /// As [`S3Server::connect`], with other keys.
    ///
    /// # Errors
    /// As [`S3Server::connect`].
    pub fn connect_as(
        &self,
        location: &Location,
        options: &ConnectOptions,
        access_key: &str,
        secret_key: &str,
    ) -> Result<Connected> {
        let options = ConnectOptions { endpoint: Some(self.endpoint.clone()), ..options.clone() };
        crate::connect::connect_with_keys(location, &options, access_key, secret_key)
    }

    /// As [`S3Server::connect`], for a client of exact keys.
    ///
    /// # Errors
    /// As [`S3Server::connect`].
    pub fn bucket(&self, bucket: &str, options: &ConnectOptions) -> Result<S3Bucket> {
        let options = ConnectOptions { endpoint: Some(self.endpoint.clone()), ..options.clone() };
        super::s3_bucket(bucket, &options, &self.access_key, &self.secret_key, None)
    }

    /// Has a bucket keep versions from now on; what is in it has none.
    pub fn keep_versions(&self, bucket: &str) {
        if let Some(bucket) = self.buckets.lock().get_mut(bucket) {
            bucket.versions = Some(BTreeMap::new());
        }
    }

    /// Refuses every delete of `key`, as a policy does.
    pub fn protect(&self, bucket: &str, key: &str) {
        if let Some(bucket) = self.buckets.lock().get_mut(bucket) {
            bucket.protected.insert(key.to_owned());
        }
    }

    /// Removes a bucket with all that is in it, as an administrator's mistake does.
    pub fn remove_bucket(&self, bucket: &str) {
        self.buckets.lock().remove(bucket);
    }

    /// Makes an empty bucket, unless there is one.
    pub fn add_bucket(&self, bucket: &str) {
        self.buckets.lock().entry(bucket.to_owned()).or_default();
    }

    /// How many uploads have been begun and neither completed nor aborted.
    #[must_use]
    pub fn uploads_open(&self, bucket: &str) -> usize {
        self.buckets.lock().get(bucket).map_or(0, |bucket| bucket.uploads.len())
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}
