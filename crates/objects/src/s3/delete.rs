//! One object deleted.

use super::S3Bucket;
use super::attempts::Attempts;
use super::call::Call;
use crate::classify::Class;
use crate::{Result, Verb};
use hyper::Method;
use hyper::header::IF_MATCH;

impl S3Bucket {
    /// Deletes an object, or one version of it for good. Without a version, a bucket that keeps versions only gets a delete
    /// marker. An object that is not there counts as deleted.
    ///
    /// With `if_match` it is deleted only if it has this tag. Repeated after an answer that was lost, it may find
    /// the object gone, and then counts as done.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when it has another tag; with `if_match`, [`crate::Error::NotFound`] from servers that
    /// say so.
    pub async fn delete(&self, key: &str, if_match: Option<&str>, version: Option<&str>) -> Result<()> {
        let inner = &*self.inner;
        let call = Call::object(Verb::Delete, "delete", Method::DELETE, key)?;
        let mut call = call.query_if("versionId", version);
        if let Some(etag) = if_match {
            call.header(IF_MATCH, etag)?;
        }
        let mut attempts = Attempts::new(inner, call.name, call.op());
        loop {
            let failure = match inner.answer(&call).await.and_then(|answer| answer.no_error()) {
                Ok(()) => return attempts.end(),
                Err(failure) => failure,
            };
            let done = if_match.is_none() || attempts.effect_unknown();
            if failure.class == Class::NotFound && done {
                return attempts.end();
            }
            attempts.again(failure).await?;
        }
    }
}
