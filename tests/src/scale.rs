//! How large a run is: what CI can afford, or the full numbers.

use std::time::Duration;

/// Whether this is the long run.
#[must_use]
pub fn long() -> bool {
    std::env::var_os("STOA_SUITE_LONG").is_some()
}

/// `small` in CI, `full` in the long run.
#[must_use]
pub fn pick<T>(small: T, full: T) -> T {
    if long() { full } else { small }
}

/// A limit of so many minutes, longer in the long run.
#[must_use]
pub fn minutes(small: u64, full: u64) -> Duration {
    Duration::from_secs(60 * pick(small, full))
}
