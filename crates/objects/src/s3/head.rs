//! What is known of one object.

use super::attempts::{Answer, Attempts};
use super::call::Call;
use super::failure::{Failure, date};
use super::headers::{self, Headers};
use super::{Inner, S3Bucket};
use crate::classify::Class;
use crate::{Result, Verb};
use hyper::{HeaderMap, Method};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// For so long after an answer that came out of the bucket it is taken to exist.
const SEEN_MAX: Duration = Duration::from_secs(5);

/// What is known of one object, or of one version of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its length in bytes.
    pub size: u64,
    /// Its tag, exactly as the server gives it, quotes and all.
    pub etag: Option<String>,
    /// When it was written, to the second, by the server's clock.
    pub modified: Option<SystemTime>,
    /// Which version it is, where the bucket keeps versions.
    pub version: Option<String>,
    /// What it carries.
    pub headers: Headers,
}

impl ObjectInfo {
    /// From the head of an answer. `size` is that of the whole object.
    pub(super) fn read(headers: &HeaderMap, size: u64) -> Self {
        let text = |name| headers::text(headers, name);
        Self {
            size,
            etag: text("etag"),
            modified: text("last-modified").as_deref().and_then(date),
            version: text("x-amz-version-id"),
            headers: Headers::read(headers),
        }
    }
}

/// The length that an answer's head promises.
pub(super) fn length(headers: &HeaderMap) -> std::result::Result<u64, Failure> {
    let text = headers::text(headers, "content-length");
    text.and_then(|text| text.parse().ok()).ok_or_else(|| Failure::corrupt("the answer has no length".to_owned()))
}

impl S3Bucket {
    /// Asks what is known of an object, or of one version of it.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], also for a version that is a delete marker. The answer to this request has no body
    /// that would tell a missing key from a missing bucket, so a bucket that nothing was heard of for 5 s is asked for. Nor can
    /// refused credentials be told from missing rights: both are [`crate::Error::Denied`].
    pub async fn head(&self, key: &str, version: Option<&str>) -> Result<ObjectInfo> {
        self.inner.head(key, version).await.map(|(info, _)| info)
    }

    /// As [`S3Bucket::head`] of the current version, and with it the tag that its writer gave it: that of [`S3Bucket::copy_marked`], or
    /// one that nobody else knows.
    ///
    /// # Errors
    /// As [`S3Bucket::head`].
    pub async fn head_marked(&self, key: &str) -> Result<(ObjectInfo, Option<String>)> {
        self.inner.head(key, None).await
    }
}

impl Inner {
    /// What is known of an object, and the tag of our own writes.
    pub(super) async fn head(&self, key: &str, version: Option<&str>) -> Result<(ObjectInfo, Option<String>)> {
        let call = Call::object(Verb::Head, "head", Method::HEAD, key)?.reading().query_if("versionId", version);
        let mut attempts = Attempts::new(self, call.name, call.op());
        loop {
            let read = |answer: Answer| {
                let info = ObjectInfo::read(&answer.headers, length(&answer.headers)?);
                Ok((info, headers::tag(&answer.headers)))
            };
            let failure = match self.answer(&call).await.and_then(read) {
                Ok(found) => return Ok(attempts.done(found)),
                Err(failure) if failure.class == Class::NotFound => self.missing(failure).await,
                Err(failure) => failure,
            };
            attempts.again(failure).await?;
        }
    }

    /// The object at `key`, if it is the one that was written with `tag`.
    pub(super) async fn own(&self, key: &str, tag: &str) -> Result<Option<ObjectInfo>> {
        match self.head(key, None).await {
            Ok((info, found)) => Ok(found.filter(|found| found == tag).map(|_| info)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether it is the object that is missing, or the bucket.
    async fn missing(&self, failure: Failure) -> Failure {
        if !failure.code.is_empty() || self.seen.lock().is_some_and(|seen| seen.elapsed() < SEEN_MAX) {
            return failure;
        }
        let call = Call::bucket(Verb::Head, "head bucket", Method::HEAD);
        match self.answer(&call).await {
            Err(gone) if gone.class == Class::NotFound => gone.of(Class::BucketGone),
            Err(other) if other.class.passes() => other,
            // Also when asking is not allowed: that is said of a bucket that exists.
            _ => {
                self.bucket_is_there();
                failure
            }
        }
    }

    /// An answer came out of the bucket.
    pub(super) fn bucket_is_there(&self) {
        *self.seen.lock() = Some(Instant::now());
    }
}
