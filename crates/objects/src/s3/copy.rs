//! Objects copied inside the store.

use super::attempts::{Answer, Attempts};
use super::call::{Call, Reads};
use super::failure::Failure;
use super::headers::{Condition, Headers, Storage};
use super::put::Written;
use super::{Inner, S3Bucket, encode};
use crate::classify::Class;
use crate::retry::{SLOW, new_tag};
use crate::{Result, Verb};
use hyper::Method;

/// What to copy from: an object of the same bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Its key.
    pub key: String,
    /// Which version of it; otherwise the current one.
    pub version: Option<String>,
    /// The tag that it must have.
    pub if_match: Option<String>,
}

/// What a copy carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyHeaders {
    /// What the source carries, but stored like this: a copy never takes its storage class from its source.
    Keep(Storage),
    /// This, and nothing of the source's headers.
    Replace(Headers),
}

impl Source {
    /// Says in `call` what is copied.
    pub(super) fn write(&self, bucket: &str, call: &mut Call<'_>) -> Result<()> {
        if self.key.is_empty() {
            return Err(call.refused("a key is never empty"));
        }
        let mut text = format!("/{bucket}/");
        encode::key(&self.key, &mut text);
        if let Some(version) = &self.version {
            text.push_str("?versionId=");
            encode::query(version, &mut text);
        }
        call.keyed.reads = Some(Reads::Source);
        call.header_if("x-amz-copy-source", Some(&text))?;
        call.header_if("x-amz-copy-source-if-match", self.if_match.as_deref())
    }
}

impl S3Bucket {
    /// Copies an object of up to 5 GiB. Tags go with it. It is durable when this returns. Copying an object onto itself with
    /// [`CopyHeaders::Replace`] changes what it carries.
    ///
    /// A conditional copy recognises its own object after an answer that was lost, as [`S3Bucket::put`] does. To that end
    /// one with [`CopyHeaders::Keep`] asks first what the source carries.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is no source, or nothing at `key` for [`Condition::IfMatch`];
    /// [`crate::Error::Conflict`] when either condition does not hold.
    pub async fn copy(
        &self,
        source: &Source,
        key: &str,
        headers: &CopyHeaders,
        condition: &Condition,
    ) -> Result<Written> {
        let inner = &*self.inner;
        let tag = (!condition.is_none()).then(new_tag);
        let (call, tag) = match (tag, headers) {
            (Some(tag), CopyHeaders::Keep(storage)) => match inner.carried(source, storage).await? {
                // As it goes with the source's headers, it may only be copied while it still has them.
                Some((same, headers)) => (inner.copying(&same, key, &headers, condition, Some(&tag))?, Some(tag)),
                None => (inner.copying(source, key, headers, condition, None)?, None),
            },
            (tag, headers) => (inner.copying(source, key, headers, condition, tag.as_deref())?, tag),
        };
        self.check_customer_key(&call).await?;
        inner.copied(&call, key, tag.as_deref()).await
    }

    /// As [`S3Bucket::copy`] with [`CopyHeaders::Replace`], and the copy's own tag is `mark`: by [`S3Bucket::head_marked`] another process
    /// knows it, too. A mark is visible ASCII, and tells this copy from every other object.
    ///
    /// # Errors
    /// As [`S3Bucket::copy`].
    pub async fn copy_marked(
        &self,
        source: &Source,
        key: &str,
        headers: &Headers,
        condition: &Condition,
        mark: &str,
    ) -> Result<Written> {
        let call = self.inner.copying(source, key, &CopyHeaders::Replace(headers.clone()), condition, Some(mark))?;
        self.check_customer_key(&call).await?;
        self.inner.copied(&call, key, Some(mark)).await
    }
}

fn copied(answer: &Answer) -> std::result::Result<Written, Failure> {
    Written::read(answer, Some(answer.xml("CopyObjectResult")?.need("ETag")?))
}

impl Inner {
    /// Makes the call of a copy, which knows its own object by its tag.
    async fn copied(&self, call: &Call<'_>, key: &str, tag: Option<&str>) -> Result<Written> {
        let mut attempts = Attempts::new(self, call.name, call.op());
        loop {
            let failure = match self.answer(call).await.and_then(|answer| copied(&answer)) {
                Ok(written) => return Ok(attempts.done(written)),
                Err(failure) => failure,
            };
            let refused = matches!(failure.class, Class::Precondition | Class::NotFound);
            if let Some(tag) = tag.filter(|_| refused && attempts.effect_unknown())
                && let Some(info) = self.own(key, tag).await?
            {
                return Ok(attempts.done(Written::found(info)));
            }
            attempts.again(failure).await?;
        }
    }

    fn copying<'a>(
        &self,
        source: &Source,
        key: &'a str,
        headers: &CopyHeaders,
        condition: &Condition,
        tag: Option<&str>,
    ) -> Result<Call<'a>> {
        let mut call = Call::object(Verb::Copy, "copy to", Method::PUT, key)?;
        call.slow = SLOW;
        source.write(self.sender.address().bucket(), &mut call)?;
        let directive = match headers {
            CopyHeaders::Keep(storage) => {
                storage.write(&mut call)?;
                "COPY"
            }
            CopyHeaders::Replace(headers) => {
                headers.write(&mut call, tag)?;
                "REPLACE"
            }
        };
        call.header_if("x-amz-metadata-directive", Some(directive))?;
        condition.write(&mut call)?;
        Ok(call)
    }

    /// The source as it is now, and what it carries; `None` if it carries what can't be sent.
    async fn carried(&self, source: &Source, storage: &Storage) -> Result<Option<(Source, CopyHeaders)>> {
        let (info, _) = self.head(&source.key, source.version.as_deref()).await?;
        let headers = Headers { storage: storage.clone(), ..info.headers };
        let mut trial = Call::object(Verb::Copy, "copy to", Method::PUT, &source.key)?;
        if headers.write(&mut trial, None).is_err() || info.etag.is_none() {
            return Ok(None);
        }
        let if_match = source.if_match.clone().or(info.etag);
        Ok(Some((Source { if_match, ..source.clone() }, CopyHeaders::Replace(headers))))
    }
}
