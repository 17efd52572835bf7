//! S3 as it is: every legal key, and every request that files need.
//!
//! The other providers speak through `object_store`, which can't name every key (`a//b`, a trailing `/`, `.`), and has
//! neither conditional completions and deletes nor parts copied inside the store, versions, tags or storage classes. An
//! [`S3Bucket`] sends keys byte for byte, and has one method for each request of the protocol that Stoa makes.
//!
//! **Keys** are UTF-8, as S3's are. They go into requests percent-encoded and never normalised, and come back from
//! listings as they are. An empty key is refused: it would name the bucket.
//!
//! **Durability**: an object that [`S3Bucket::put`], [`S3Bucket::copy`] or [`S3Bucket::complete_upload`] has answered
//! for is durable, as far as the server keeps its word. An answer of 200 with an error in its body is an error.
//!
//! **Retries**: overload, timeouts, cut connections and a vanished bucket are repeated under
//! [`crate::ConnectOptions::retry`]; credentials that are refused, a full store and TLS for
//! [`crate::RetryPolicy::mend`]. What a request may not do ([`crate::Error::Denied`]) is said at once: it is the
//! business of the one who asked. Requests that can't be repeated blindly say what is done about it.

mod address;
mod attempts;
mod body;
mod call;
mod checksum;
mod copy;
mod customer_key;
mod delete;
mod delete_many;
pub(crate) mod encode;
mod failure;
mod get;
mod head;
mod headers;
mod http;
pub mod limits;
mod list;
mod put;
mod send;
mod sign;
mod tags;
mod upload;
mod upload_list;
mod upload_part;
mod versioning;
mod versions;
mod xml;

pub use checksum::{Algorithm, Checksum};
pub use copy::{CopyHeaders, Source};
pub use customer_key::CustomerKey;
pub use get::{Object, Read};
pub use head::ObjectInfo;
pub use headers::{Condition, Encryption, Headers, Storage};
pub use list::{List, Listed, Page};
pub use put::Written;
pub use upload::{Part, Upload};
pub use upload_list::{UploadMark, UploadPage};
pub use versions::{Version, VersionKind, VersionMark, VersionPage};

use crate::connect::{aws, client};
use crate::limit::Places;
use crate::{ConnectOptions, Error, Health, Location, Meter, Result, RetryPolicy};
use address::Address;
use parking_lot::Mutex;
use send::Sender;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::time::Instant;

/// One bucket of an S3 server. Clones share connections, credentials, the limit of requests and all records.
#[derive(Clone)]
pub struct S3Bucket {
    inner: Arc<Inner>,
}

struct Inner {
    sender: Sender,
    policy: RetryPolicy,
    request_timeout: Duration,
    places: Places,
    health: Health,
    /// When an answer last came out of the bucket.
    seen: Mutex<Option<Instant>>,
    /// Whether uploads carry a checksum.
    checksum: bool,
    /// Whether payloads are signed.
    signed: bool,
    /// Whether the server is known to know customers' keys.
    customer_keys_known: AtomicBool,
}

impl S3Bucket {
    /// Makes a client of `bucket`. Nothing is asked of the server yet. Endpoint, region and credentials come from where
    /// [`crate::connect()`] finds them, and every option means what it does there.
    ///
    /// The region need not be right: when the server names another, it is taken from then on.
    ///
    /// # Errors
    /// [`Error::NoCredentials`]; [`Error::BadUrl`] for a name that no bucket has; [`Error::BadOption`] for an option that
    /// can't be used.
    pub async fn connect(bucket: &str, options: &ConnectOptions) -> Result<Self> {
        let location = Location::parse(&format!("s3://{bucket}"))?;
        if !location.prefix().is_root() {
            return Err(Error::BadOption(format!("'{bucket}' is not the name of a bucket")));
        }
        let access = aws::find(&location, options).await?;
        Self::with_access(bucket, access, options)
    }

    /// As [`S3Bucket::connect`], with everything found already.
    pub(crate) fn with_access(bucket: &str, access: aws::Access, options: &ConnectOptions) -> Result<Self> {
        let endpoint = access.endpoint.as_deref();
        let address = Address::new(bucket, endpoint, options.path_style);
        let signed = access.credentials.is_some() && !client::is_protected(endpoint);
        if options.customer_key.is_some() && !client::is_protected(endpoint) {
            let text =
                "a key of your own (SSE-C) goes with each request, and http:// shows it to the network: use https://";
            return Err(Error::BadOption(text.to_owned()));
        }
        let http = http::client(options, address.is_tls())?;
        let inner = Inner {
            sender: Sender::new(http, address, access, options),
            policy: options.retry,
            request_timeout: options.request_timeout,
            places: Places::new(options.requests_max),
            health: Health::default(),
            seen: Mutex::new(None),
            checksum: options.checksum,
            signed,
            customer_keys_known: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Counts every attempt.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.inner.sender.meter
    }

    /// Records every failure.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.inner.health
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.inner.sender.address().bucket()
    }
}

impl fmt::Debug for S3Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Bucket").field("address", self.inner.sender.address()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
