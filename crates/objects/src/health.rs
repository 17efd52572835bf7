//! How a store is doing, for `status` and the log.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Who is told in the log of a store that is away does not want to hear of every hiccup,
const WARN_AFTER: Duration = Duration::from_secs(5);
/// nor of an outage as often as it is tried.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// A shared record of failures and retries of one store. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Health {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    report: HealthReport,
    /// When the log was told last that something is wrong.
    warned: Option<Instant>,
    /// Whether it was not told since that the store answers again. It may do one thing and refuse another, in turns.
    is_away: bool,
}

/// What [`Health`] knows at one moment.
#[derive(Debug, Clone, Default)]
pub struct HealthReport {
    /// Attempts that failed, ever, in a way that was retried or given up on. Plain answers such as "not found" don't count.
    pub failures: u64,
    /// Attempts that failed since the last one that succeeded.
    pub failures_in_row: u64,
    /// Operations that wait for their next attempt right now.
    pub waiting: u64,
    /// The last failure.
    pub last_failure: Option<Failure>,
    /// When an operation last succeeded after a failure: how an outage's end is seen.
    pub recovered: Option<SystemTime>,
}

/// One failed attempt.
#[derive(Debug, Clone)]
pub struct Failure {
    /// When.
    pub at: SystemTime,
    /// What was tried, and why it failed, fit to show.
    pub message: String,
}

impl Health {
    /// What is known now.
    #[must_use]
    pub fn report(&self) -> HealthReport {
        self.inner.lock().report.clone()
    }

    /// Takes note of an attempt that failed, of an operation that has been tried for so long.
    pub(crate) fn failed(&self, message: String, tried: Duration) {
        let mut inner = self.inner.lock();
        if tried >= WARN_AFTER && inner.warned.is_none_or(|warned| warned.elapsed() >= WARN_EVERY) {
            (inner.warned, inner.is_away) = (Some(Instant::now()), true);
            tracing::warn!(%message, seconds = tried.as_secs(), "the store does not do what it is asked; it is asked again");
        }
        let report = &mut inner.report;
        report.failures += 1;
        report.failures_in_row += 1;
        report.last_failure = Some(Failure { at: SystemTime::now(), message });
    }

    pub(crate) fn succeeded(&self) {
        let mut inner = self.inner.lock();
        if inner.report.failures_in_row > 0 {
            inner.report.failures_in_row = 0;
            inner.report.recovered = Some(SystemTime::now());
            if std::mem::take(&mut inner.is_away) {
                tracing::info!("the store answers again");
            }
        }
    }

    /// Counts an operation as waiting for as long as the result lives.
    pub(crate) fn wait(&self) -> Waiting {
        self.inner.lock().report.waiting += 1;
        Waiting(self.clone())
    }
}

/// An operation that waits for its next attempt.
pub(crate) struct Waiting(Health);

impl Drop for Waiting {
    fn drop(&mut self) {
        let report = &mut self.0.inner.lock().report;
        report.waiting = report.waiting.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_told_once_and_so_is_its_end() {
        let health = Health::default();
        let told = || {
            let inner = health.inner.lock();
            (inner.warned, inner.is_away)
        };
        health.failed("hiccup".into(), Duration::from_secs(1));
        assert_eq!(told(), (None, false));
        health.failed("away".into(), Duration::from_secs(5));
        let (first, is_away) = told();
        assert!(first.is_some() && is_away);
        health.failed("still away".into(), Duration::from_secs(9));
        assert_eq!(told(), (first, true));
        // It reads, and does not write.
        health.succeeded();
        health.failed("still away".into(), Duration::from_secs(12));
        assert_eq!(told(), (first, false));
        assert_eq!(health.report().failures, 4);
    }
}
