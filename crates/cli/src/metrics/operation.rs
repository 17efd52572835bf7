//! How often an operation was asked for, and how long it took.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One kind of operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    /// Its name, as FUSE has it.
    pub(crate) name: String,
    /// How many ended with an error.
    pub(crate) errors: u64,
    /// Nanoseconds, all added up.
    pub(crate) total_ns: u64,
    /// Nanoseconds that the longest took.
    pub(crate) max_ns: u64,
    /// How many took how long, shortest first: nanoseconds that none of them exceeds, and how many. Empty ones are left out.
    pub(crate) buckets: Vec<(u64, u64)>,
}

impl Operation {
    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// The time that all took together.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.total_ns)
    }

    /// The longest time.
    pub(crate) fn max(&self) -> Duration {
        Duration::from_nanos(self.max_ns)
    }

    /// The mean time.
    pub(crate) fn mean(&self) -> Duration {
        Duration::from_nanos(self.total_ns.checked_div(self.count()).unwrap_or(0))
    }

    /// A time that `percent` of a hundred did not exceed: at most a bucket's width (25 %) too long, never too short.
    pub(crate) fn quantile(&self, percent: u64) -> Duration {
        let count = self.count();
        let rank = (u128::from(count) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0;
        for (longest, in_bucket) in &self.buckets {
            seen += u128::from(*in_bucket);
            if seen >= rank {
                return Duration::from_nanos((*longest).min(self.max_ns));
            }
        }
        self.max()
    }

    /// What came after `earlier`. The longest of that time is known only as exactly as its bucket.
    fn since(&self, earlier: &Self) -> Self {
        let before =
            |longest: u64| earlier.buckets.iter().find(|(end, _)| *end == longest).map_or(0, |(_, count)| *count);
        let buckets: Vec<(u64, u64)> = self
            .buckets
            .iter()
            .map(|(longest, count)| (*longest, count.saturating_sub(before(*longest))))
            .filter(|(_, count)| *count > 0)
            .collect();
        let longest = buckets.last().map_or(0, |(longest, _)| *longest);
        Self {
            name: self.name.clone(),
            errors: self.errors.saturating_sub(earlier.errors),
            total_ns: self.total_ns.saturating_sub(earlier.total_ns),
            max_ns: if self.max_ns > earlier.max_ns { self.max_ns } else { longest.min(self.max_ns) },
            buckets,
        }
    }
}

/// The operations that came after `earlier`.
pub(crate) fn in_between(earlier: &[Operation], later: &[Operation]) -> Vec<Operation> {
    let since = |operation: &Operation| match earlier.iter().find(|before| before.name == operation.name) {
        Some(before) => operation.since(before),
        None => operation.clone(),
    };
    later.iter().map(since).filter(|operation| operation.count() > 0).collect()
}

#[cfg(test)]
mod tests;
