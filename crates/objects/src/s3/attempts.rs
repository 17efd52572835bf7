//! The attempts of one operation.

use super::Inner;
use super::call::Call;
use super::failure::Failure;
use super::xml::Element;
use crate::classify::Class;
use crate::retry::{CONFLICTS_MAX, Tries};
use crate::{Error, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{HeaderMap, Response};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// As much of an answer as is read, other than of an object: a page of 1,000 keys, each 1 KiB long and percent-encoded, in
/// every field, is below.
const ANSWER_MAX: usize = 32 << 20;

/// How often an answer that can't be right is asked for again.
const CORRUPT_MAX: u32 = 3;

/// An answer that is a success, read to its end.
pub(super) struct Answer {
    pub(super) headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    /// The document in its body, whose root must be `root`. An error in its place is the failure that it says.
    pub(super) fn xml(&self, root: &str) -> std::result::Result<Element, Failure> {
        let document = Element::parse(&self.body)?;
        match document.is(root) {
            true => Ok(document),
            false if document.is("Error") => Err(self.error()),
            false => Err(Failure::corrupt(format!("the answer is no {root}"))),
        }
    }

    /// Fails if the body is an error, which a success may carry: its headers were sent before the server knew.
    pub(super) fn no_error(&self) -> std::result::Result<(), Failure> {
        match Element::parse(&self.body) {
            Ok(root) if root.is("Error") => Err(self.error()),
            _ => Ok(()),
        }
    }

    /// An answer with this body and no headers.
    #[cfg(test)]
    pub(super) fn with_body(body: &str) -> Self {
        Self { headers: HeaderMap::new(), body: Bytes::copy_from_slice(body.as_bytes()) }
    }

    fn error(&self) -> Failure {
        Failure::of_answer(200, &self.headers, &self.body)
    }

    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }
}

impl Inner {
    /// One attempt, up to the head of its answer. The place is free again when it is dropped.
    pub(super) async fn open(
        &self,
        call: &Call<'_>,
    ) -> std::result::Result<(Response<Incoming>, OwnedSemaphorePermit), Failure> {
        let place = self.places.take().await.map_err(|closed| Failure::rejected(closed.to_string()))?;
        let response = self.timed(call, self.sender.send(call)).await?;
        self.bucket_is_there();
        Ok((response, place))
    }

    /// One attempt, and all of its answer.
    pub(super) async fn answer(&self, call: &Call<'_>) -> std::result::Result<Answer, Failure> {
        let _place = self.places.take().await.map_err(|closed| Failure::rejected(closed.to_string()))?;
        let whole = async {
            let (head, body) = self.sender.send(call).await?.into_parts();
            let body = Limited::new(body, ANSWER_MAX).collect().await;
            let body = body.map_err(|error| Failure::transport(error.as_ref(), false))?.to_bytes();
            Ok(Answer { headers: head.headers, body })
        };
        let answer = self.timed(call, whole).await?;
        self.bucket_is_there();
        Ok(answer)
    }

    /// Makes a call until it has succeeded, or is not to be repeated any more.
    pub(super) async fn run<T>(
        &self,
        call: &Call<'_>,
        read: impl Fn(&Answer) -> std::result::Result<T, Failure>,
    ) -> Result<T> {
        let mut attempts = Attempts::new(self, call.name, call.op());
        loop {
            match self.answer(call).await.and_then(|answer| read(&answer)) {
                Ok(value) => return Ok(attempts.done(value)),
                Err(failure) => attempts.again(failure).await?,
            }
        }
    }

    async fn timed<T>(
        &self,
        call: &Call<'_>,
        request: impl Future<Output = std::result::Result<T, Failure>>,
    ) -> std::result::Result<T, Failure> {
        let limit = self.policy.limit(call.slow + call.body.content_length() as u64);
        timed(limit.map_or(self.request_timeout, |limit| limit.min(self.request_timeout)), request).await
    }
}

/// Gives up as a timeout what takes longer than `limit`.
pub(super) async fn timed<T>(
    limit: Duration,
    request: impl Future<Output = std::result::Result<T, Failure>>,
) -> std::result::Result<T, Failure> {
    let late = |_| Failure::new(Class::Transient, format!("no answer within {} s", limit.as_secs()));
    tokio::time::timeout(limit, request).await.map_err(late)?
}

/// The attempts of one operation: when they end, and with which error.
pub(super) struct Attempts<'a> {
    inner: &'a Inner,
    tries: Tries<'a>,
    op: String,
    corrupt: u32,
    conflicts: u32,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(inner: &'a Inner, name: &'static str, op: String) -> Self {
        let subject = op.strip_prefix(name).unwrap_or_default().trim_start().to_owned();
        let tries = Tries::under(&inner.policy, &inner.health, name, subject);
        Self { inner, tries, op, corrupt: 0, conflicts: 0 }
    }

    /// Whether an earlier attempt failed in a way that leaves open whether it took effect.
    pub(super) fn effect_unknown(&self) -> bool {
        self.tries.effect_unknown()
    }

    /// Records success and hands `value` on.
    pub(super) fn done<T>(&self, value: T) -> T {
        self.tries.done(value)
    }

    /// Records success of an operation that returns nothing.
    pub(super) fn end(&self) -> Result<()> {
        self.inner.health.succeeded();
        Ok(())
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// What `failure` means, when there is to be no further attempt.
    pub(super) async fn again(&mut self, failure: Failure) -> Result<()> {
        let mut class = failure.class;
        if class == Class::Corrupt && self.corrupt < CORRUPT_MAX {
            self.corrupt += 1;
            class = Class::Transient;
        }
        if failure.is_conflict() {
            self.conflicts += 1;
            if self.conflicts > CONFLICTS_MAX {
                return Err(self.error(failure.of(Class::Precondition)));
            }
        }
        // Rights may differ from key to key, so this is the answer to the one who asked, and no state of the store.
        if class == Class::Denied {
            self.inner.health.succeeded();
            return Err(self.error(failure));
        }
        self.tries.again_as(failure, class).await.map_err(|failure| self.error(failure))
    }

    pub(super) fn error(&self, failure: Failure) -> Error {
        failure.into_error(&self.op, || self.inner.sender.endpoint())
    }
}
