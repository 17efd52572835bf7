//! What a measurement of a store found.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use stoa_objects::{BenchReport, Moved};

/// The store by itself, without files. The answer to `Request::Bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoreFigures {
    /// Large objects put, several at once.
    pub(crate) put: Rate,
    /// Large objects got, several at once.
    pub(crate) get: Rate,
    /// Small objects put, one after the other.
    pub(crate) small_put: Latency,
    /// Small objects got, one after the other.
    pub(crate) small_get: Latency,
    /// Objects listed,
    pub(crate) list_objects: u64,
    /// and how long that took.
    pub(crate) list_seconds: f64,
}

/// So many bytes in such a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rate {
    /// How many.
    pub(crate) bytes: u64,
    /// In what time.
    pub(crate) seconds: f64,
    /// The one by the other.
    pub(crate) bytes_per_second: f64,
}

/// How long things took one by one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Latency {
    /// How many there were.
    pub(crate) count: u64,
    /// What half of them did not exceed.
    pub(crate) p50_seconds: f64,
    /// What 99 of a hundred did not exceed.
    pub(crate) p99_seconds: f64,
    /// What none exceeded.
    pub(crate) max_seconds: f64,
}

impl Rate {
    /// `bytes` in the time `took`.
    pub(crate) fn new(bytes: u64, took: Duration) -> Self {
        let seconds = took.as_secs_f64();
        #[allow(clippy::cast_precision_loss, reason = "a rate is no exact number")]
        let bytes_per_second = bytes as f64 / seconds.max(1e-9);
        Self { bytes, seconds, bytes_per_second }
    }
}

impl Latency {
    /// Of `times`, shortest first.
    pub(crate) fn of(times: &[Duration]) -> Self {
        let at = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).max(1);
            times.get(rank - 1).map_or(0.0, Duration::as_secs_f64)
        };
        Self { count: times.len() as u64, p50_seconds: at(50), p99_seconds: at(99), max_seconds: at(100) }
    }
}

impl From<&BenchReport> for StoreFigures {
    fn from(report: &BenchReport) -> Self {
        let rate = |moved: Moved| Rate::new(moved.bytes, moved.took);
        Self {
            put: rate(report.put),
            get: rate(report.get),
            small_put: Latency::of(&report.small_puts),
            small_get: Latency::of(&report.small_gets),
            list_objects: report.listed,
            list_seconds: report.list.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests;
