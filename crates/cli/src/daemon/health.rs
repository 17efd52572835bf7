//! How the store behind a mount is doing, as `stoa status` shows it.

use super::backing::Backing;
use serde::Serialize;
use std::time::SystemTime;
use stoa_objects::HealthReport;

/// The store at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct StoreHealth {
    /// Requests sent, repeated ones included.
    pub(super) requests: u64,
    /// Bytes of objects received.
    pub(super) bytes_in: u64,
    /// Bytes of objects sent.
    pub(super) bytes_out: u64,
    /// Attempts that failed since one succeeded; 0 while the store works.
    pub(super) failures_in_row: u64,
    /// Operations that wait for their next attempt.
    pub(super) waiting: u64,
    /// The last failure, and when (RFC 3339).
    pub(super) last_failure: Option<String>,
}

impl StoreHealth {
    /// How the store behind `backing` is doing now.
    pub(super) fn of(backing: &Backing) -> Self {
        let counts = backing.meter().counts();
        let HealthReport { failures_in_row, waiting, last_failure, .. } = backing.health().report();
        Self {
            requests: counts.total(),
            bytes_in: counts.bytes_in,
            bytes_out: counts.bytes_out,
            failures_in_row,
            waiting,
            last_failure: last_failure.map(|failure| format!("{} {}", rfc3339(failure.at), failure.message)),
        }
    }

    /// What is wrong with it, if it does not work at the moment.
    pub(super) fn trouble(&self) -> Option<&str> {
        self.last_failure.as_deref().filter(|_| self.failures_in_row > 0)
    }
}

/// `time` to the second.
pub(super) fn rfc3339(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests;
