//! One line of `stoa stats`.

use crate::metrics::Snapshot;
use crate::output::short;
use serde::Serialize;
use std::time::SystemTime;

/// What stands above the lines.
pub(super) const HEADER: [&str; 2] = [
    "--------programs------- ---requests---- -----store----- -cache- --------memory-------",
    "    ops    read   write   get   put other    recv    sent    hit    dirty  cache  memory",
];

/// What happened between two moments, per second, and how it is now.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Line {
    time: String,
    since_mount: bool,
    seconds: f64,
    operations_per_second: f64,
    read_bytes_per_second: f64,
    written_bytes_per_second: f64,
    gets_per_second: f64,
    puts_per_second: f64,
    other_requests_per_second: f64,
    received_bytes_per_second: f64,
    sent_bytes_per_second: f64,
    /// Of what readers asked the cache for, what was in it: 0 to 1; none if nothing was asked for.
    cache_hit_share: Option<f64>,
    dirty_bytes: u64,
    cache_bytes: u64,
    cache_disk_bytes: u64,
    memory_bytes: u64,
}

/// The requests that have a column of their own.
const GETS: [&str; 1] = ["get"];
const PUTS: [&str; 2] = ["put", "part"];

impl Line {
    /// Averages over the life of the mount.
    pub(super) fn since_mount(now: &Snapshot) -> Self {
        Self { since_mount: true, ..Self::of(None, now) }
    }

    /// What happened between two moments.
    pub(super) fn between(earlier: &Snapshot, now: &Snapshot) -> Self {
        Self::of(Some(earlier), now)
    }

    fn of(earlier: Option<&Snapshot>, now: &Snapshot) -> Self {
        let grown = |of: fn(&Snapshot) -> u64| of(now).saturating_sub(earlier.map_or(0, of));
        // An answer can't come in no time; 1 us keeps the division sound all the same.
        let seconds = (grown(|at| at.age_ns) as f64 / 1e9).max(1e-6);
        let rate = |of: fn(&Snapshot) -> u64| grown(of) as f64 / seconds;
        let found = grown(|at| at.cache.hits);
        let asked = found + grown(|at| at.cache.misses);
        // Reads ahead may find pieces on disk that no reader asked for yet: not more than what was not in memory.
        let on_disk = grown(|at| at.cache.disk_hits).min(asked - found);
        Self {
            time: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            since_mount: false,
            seconds,
            operations_per_second: rate(Snapshot::operations_total),
            read_bytes_per_second: rate(|at| at.read_bytes),
            written_bytes_per_second: rate(|at| at.written_bytes),
            gets_per_second: rate(|at| at.store.of(&GETS)),
            puts_per_second: rate(|at| at.store.of(&PUTS)),
            other_requests_per_second: rate(|at| at.store.total() - at.store.of(&GETS) - at.store.of(&PUTS)),
            received_bytes_per_second: rate(|at| at.store.received_bytes),
            sent_bytes_per_second: rate(|at| at.store.sent_bytes),
            cache_hit_share: (asked > 0).then(|| (found + on_disk) as f64 / asked as f64),
            dirty_bytes: now.dirty_bytes,
            cache_bytes: now.cache.memory_bytes,
            cache_disk_bytes: now.cache.disk_bytes,
            memory_bytes: now.resident_bytes,
        }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let hit = self.cache_hit_share.map_or("-".into(), |share| format!("{:.0}%", share * 100.0));
        format!(
            "{:>7} {:>7} {:>7} {:>5} {:>5} {:>5} {:>7} {:>7} {hit:>6} {:>8} {:>6} {:>7}",
            count(self.operations_per_second),
            bytes(self.read_bytes_per_second),
            bytes(self.written_bytes_per_second),
            count(self.gets_per_second),
            count(self.puts_per_second),
            count(self.other_requests_per_second),
            bytes(self.received_bytes_per_second),
            bytes(self.sent_bytes_per_second),
            short(self.dirty_bytes, 1024),
            short(self.cache_bytes, 1024),
            short(self.memory_bytes, 1024),
        )
    }

    /// For programs: one line.
    pub(super) fn json(&self) -> String {
        // Numbers and a string: nothing here can fail to be JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A rate of things. Less than one a second is still not nothing.
fn count(rate: f64) -> String {
    if rate > 0.0 && rate < 9.95 { format!("{:.1}", rate.max(0.1)) } else { short(rounded(rate), 1000) }
}

fn bytes(rate: f64) -> String {
    short(rounded(rate), 1024)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are neither negative nor beyond 2^64"
)]
fn rounded(rate: f64) -> u64 {
    rate.round() as u64
}

#[cfg(test)]
mod tests;
