//! How a store is doing, for `status` and the log.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::SystemTime;

/// A shared record of failures and retries of one store. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Health {
    inner: Arc<Mutex<HealthReport>>,
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
        self.inner.lock().clone()
    }

    pub(crate) fn failed(&self, message: String) {
        let mut report = self.inner.lock();
        report.failures += 1;
        report.failures_in_row += 1;
        report.last_failure = Some(Failure { at: SystemTime::now(), message });
    }

    pub(crate) fn succeeded(&self) {
        let mut report = self.inner.lock();
        if report.failures_in_row > 0 {
            report.failures_in_row = 0;
            report.recovered = Some(SystemTime::now());
        }
    }

    /// Counts an operation as waiting for as long as the result lives.
    pub(crate) fn wait(&self) -> Waiting {
        self.inner.lock().waiting += 1;
        Waiting(self.clone())
    }
}

/// An operation that waits for its next attempt.
pub(crate) struct Waiting(Health);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut report = self.0.inner.lock();
        report.waiting = report.waiting.saturating_sub(1);
    }
}
