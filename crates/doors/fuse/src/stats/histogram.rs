//! How long something took, each time: counts in buckets whose widths grow with the time.
//!
//! Every power of two is cut into four, so a bucket is 14 to 25 % wide; from 1 us to 18 minutes that is 124 of them, a kilobyte.
//! Adding to one is three relaxed atomic additions and a maximum: no lock, nothing allocated, some 10 ns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The unit of the scale is 2^8 = 256 ns.
const UNIT_BITS: u32 = 8;
/// Every power of two is cut into 2^2.
const CUT_BITS: u32 = 2;
/// Below 2 << CUT_BITS units, a bucket is one unit.
const FINE: u64 = 2 << CUT_BITS;
/// Times of 2^32 units (18 minutes) and more share the last bucket.
const RANGE_BITS: u32 = 32;
/// How many buckets there are.
const BUCKETS: usize = FINE as usize + ((RANGE_BITS - CUT_BITS - 1) << CUT_BITS) as usize;

/// Counts by time. They are only ever added to, without order between them.
#[derive(Debug)]
pub(super) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    total_nanos: AtomicU64,
    max_nanos: AtomicU64,
}

/// What a histogram held at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Times {
    /// All times added up.
    pub total: Duration,
    /// The longest.
    pub max: Duration,
    /// The buckets that are not empty, shortest first: a time that none in the bucket exceeds, and how many are in it.
    pub buckets: Vec<(Duration, u64)>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            total_nanos: AtomicU64::new(0),
            max_nanos: AtomicU64::new(0),
        }
    }
}

impl Histogram {
    /// Adds a time.
    pub(super) fn add(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(bucket) = self.buckets.get(place(nanos)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.total_nanos.fetch_add(nanos, Ordering::Relaxed);
        self.max_nanos.fetch_max(nanos, Ordering::Relaxed);
    }

    /// What it holds.
    pub(super) fn times(&self) -> Times {
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).enumerate();
        Times {
            buckets: counts
                .filter(|(_, count)| *count > 0)
                .map(|(place, count)| (Duration::from_nanos(longest(place)), count))
                .collect(),
            total: Duration::from_nanos(self.total_nanos.load(Ordering::Relaxed)),
            max: Duration::from_nanos(self.max_nanos.load(Ordering::Relaxed)),
        }
    }
}

impl Times {
    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }
}

/// The bucket of a time.
fn place(nanos: u64) -> usize {
    let units = nanos >> UNIT_BITS;
    let place = if units < FINE {
        units
    } else {
        // The highest bit, and the two below it.
        let octave = units.ilog2() - CUT_BITS;
        (u64::from(octave) << CUT_BITS) + (units >> octave)
    };
    usize::try_from(place).unwrap_or(usize::MAX).min(BUCKETS - 1)
}

/// The longest time, in nanoseconds, that belongs into a bucket.
fn longest(place: usize) -> u64 {
    let next = place as u64 + 1;
    let units = if next <= FINE {
        next
    } else {
        let octave = (next >> CUT_BITS) - 1;
        ((next & ((1 << CUT_BITS) - 1)) + (1 << CUT_BITS)) << octave
    };
    (units << UNIT_BITS) - 1
}

#[cfg(test)]
mod tests;
