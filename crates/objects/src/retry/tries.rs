//! The attempts of one operation.

use super::{Core, RetryPolicy};
use crate::classify::{Class, classify, shown};
use crate::{Health, redact};
use object_store::path::Path;
use object_store::{Error, Result};
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// The attempts of one operation: when it began, how often it failed, and whether a failed one may have taken effect.
#[derive(Debug)]
pub(crate) struct Tries<'a> {
    policy: &'a RetryPolicy,
    health: &'a Health,
    verb: &'static str,
    path: String,
    started: Instant,
    failed: u32,
    mending: Option<Instant>,
    unknown: bool,
}

impl<'a> Tries<'a> {
    pub(super) fn new(core: &'a Core, verb: &'static str, path: Option<&Path>) -> Self {
        Self::under(&core.policy, &core.health, verb, path.map(ToString::to_string).unwrap_or_default())
    }

    /// The attempts of an operation under `policy`, whose failures are recorded in `health`.
    pub(crate) fn under(policy: &'a RetryPolicy, health: &'a Health, verb: &'static str, path: String) -> Self {
        Self { policy, health, verb, path, started: Instant::now(), failed: 0, mending: None, unknown: false }
    }

    /// Whether an earlier attempt failed in a way that leaves open whether it took effect.
    pub(crate) fn effect_unknown(&self) -> bool {
        self.unknown
    }

    /// Records success and hands `value` on.
    pub(crate) fn done<T>(&self, value: T) -> T {
        self.health.succeeded();
        value
    }

    /// Records success of an operation that returns nothing.
    pub(super) fn end(&self) -> Result<()> {
        self.health.succeeded();
        Ok(())
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// `error` itself, when there is to be no further attempt.
    pub(super) async fn again(&mut self, error: Error) -> Result<()> {
        let class = classify(&error);
        self.again_as(error, class).await.map_err(shown)
    }

    /// As [`Tries::again`], for an error that the caller understands better than its class.
    pub(crate) async fn again_as<E>(&mut self, error: E, class: Class) -> std::result::Result<(), E>
    where
        E: std::error::Error + 'static,
    {
        if !class.passes() && !class.may_be_mended() {
            // A plain answer: the store works.
            if class != Class::Killed {
                self.health.succeeded();
            }
            return Err(error);
        }
        self.unknown |= class.effect_unknown();
        self.failed = self.failed.saturating_add(1);
        let message = format!("{} {}: {}", self.verb, self.path, redact::short(&redact::chain(&error)));
        tracing::debug!(attempt = self.failed, %message, "object request failed");
        self.health.failed(message, self.started.elapsed());
        let pause = self.policy.pause(self.failed);
        if self.is_over(class, pause) {
            return Err(error);
        }
        let _waiting = self.health.wait();
        tokio::time::sleep(pause).await;
        Ok(())
    }

    fn is_over(&mut self, class: Class, pause: Duration) -> bool {
        let policy = self.policy;
        let now = Instant::now();
        if class.may_be_mended() {
            let since = *self.mending.get_or_insert(now);
            if now.duration_since(since) + pause > policy.mend {
                return true;
            }
        } else {
            self.mending = None;
        }
        policy.patience.is_some_and(|patience| now.duration_since(self.started) + pause > patience)
    }

    /// Forgets the failures so far: there was progress.
    pub(super) fn progressed(&mut self) {
        if self.failed > 0 {
            self.failed = 0;
            self.mending = None;
            self.health.succeeded();
        }
        self.started = Instant::now();
    }
}

impl RetryPolicy {
    /// The wait after the `failed`-th failure: doubling, capped, and shortened at random so that clients do not march in step.
    pub(super) fn pause(&self, failed: u32) -> Duration {
        let doublings = failed.saturating_sub(1).min(16);
        let full = self.delay_min.saturating_mul(1 << doublings).min(self.delay_max);
        full.mul_f64(rand::random_range(0.5..=1.0))
    }

    /// How long an attempt that sends `bytes` may take, if there is a limit.
    pub(crate) fn limit(&self, bytes: u64) -> Option<Duration> {
        Some(self.attempt? + Duration::from_secs(bytes / self.bytes_per_second_min.max(1)))
    }
}

impl Core {
    /// One attempt, given up as a timeout when it takes longer than an upload of `bytes` may.
    pub(super) async fn attempt<T>(&self, bytes: u64, request: impl Future<Output = Result<T>>) -> Result<T> {
        let Some(limit) = self.policy.limit(bytes) else {
            return request.await;
        };
        match tokio::time::timeout(limit, request).await {
            Ok(result) => result,
            Err(_) => Err(broken(io::ErrorKind::TimedOut, format!("no answer within {} s", limit.as_secs()))),
        }
    }
}

/// The error for an attempt that broke off.
pub(super) fn broken(kind: io::ErrorKind, text: String) -> Error {
    Error::Generic { store: "retry", source: Box::new(io::Error::new(kind, text)) }
}
