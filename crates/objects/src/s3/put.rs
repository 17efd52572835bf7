//! Whole objects written in one request.

use super::S3Bucket;
use super::attempts::{Answer, Attempts};
use super::call::Call;
use super::failure::Failure;
use super::head::ObjectInfo;
use super::headers::{Condition, Headers};
use crate::classify::Class;
use crate::retry::new_tag;
use crate::{Result, Verb};
use hyper::Method;
use object_store::PutPayload;

/// What a write has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The object's tag, exactly as the server gives it, quotes and all.
    pub etag: String,
    /// Which version it is, where the bucket keeps versions.
    pub version: Option<String>,
}

impl Written {
    /// From the head of an answer, or with the tag that its body has.
    pub(super) fn read(answer: &Answer, etag: Option<&str>) -> std::result::Result<Self, Failure> {
        let etag = etag.map(str::to_owned).or_else(|| answer.header("etag")).filter(|etag| !etag.is_empty());
        let etag = etag.ok_or_else(|| Failure::corrupt("the answer has no tag".to_owned()))?;
        Ok(Self { etag, version: answer.header("x-amz-version-id") })
    }

    /// What was found to be our own.
    pub(super) fn found(info: ObjectInfo) -> Self {
        Self { etag: info.etag.unwrap_or_default(), version: info.version }
    }
}

impl S3Bucket {
    /// Writes an object. It is durable, and there for all who read, when this returns.
    ///
    /// Under a condition it carries a tag of its own in its user metadata (`stoaputid`, which no read here shows): when the
    /// answer to an attempt was lost and the condition does not hold for the next one, the tag tells whether the object that
    /// is there is our own. So a create succeeds for exactly one of several writers. Without a condition an attempt whose
    /// answer was lost is repeated, which in a bucket that keeps versions may make two.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when the condition does not hold; [`crate::Error::NotFound`] when there is no object for
    /// [`Condition::IfMatch`]; [`crate::Error::Rejected`] for headers that can't be sent.
    pub async fn put(&self, key: &str, body: PutPayload, headers: &Headers, condition: &Condition) -> Result<Written> {
        let tag = (!condition.is_none()).then(new_tag);
        self.put_tagged(key, body, headers, condition, tag.as_deref()).await
    }

    /// As [`S3Bucket::put`], and the object's own tag is `mark`, as with [`S3Bucket::copy_marked`].
    ///
    /// # Errors
    /// As [`S3Bucket::put`].
    pub async fn put_marked(
        &self,
        key: &str,
        body: PutPayload,
        headers: &Headers,
        condition: &Condition,
        mark: &str,
    ) -> Result<Written> {
        self.put_tagged(key, body, headers, condition, Some(mark)).await
    }

    async fn put_tagged(
        &self,
        key: &str,
        body: PutPayload,
        headers: &Headers,
        condition: &Condition,
        tag: Option<&str>,
    ) -> Result<Written> {
        let inner = &*self.inner;
        let mut call = Call::object(Verb::Put, "put", Method::PUT, key)?;
        headers.write(&mut call, tag)?;
        condition.write(&mut call)?;
        call.data(body, inner.checksum, inner.signed).await?;
        self.check_customer_key(&call).await?;
        let mut attempts = Attempts::new(inner, call.name, call.op());
        loop {
            let read = |answer: Answer| answer.no_error().and_then(|()| Written::read(&answer, None));
            let failure = match inner.answer(&call).await.and_then(read) {
                Ok(written) => return Ok(attempts.done(written)),
                Err(failure) => failure,
            };
            let refused = matches!(failure.class, Class::Precondition | Class::NotFound);
            if let Some(tag) = tag.filter(|_| refused && attempts.effect_unknown())
                && let Some(info) = inner.own(key, tag).await?
            {
                tracing::debug!(key, "a put whose answer was lost had taken effect");
                return Ok(attempts.done(Written::found(info)));
            }
            attempts.again(failure).await?;
        }
    }
}
