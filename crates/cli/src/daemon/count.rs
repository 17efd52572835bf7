//! What a mount counted, taken together at one moment.

use super::backing::Backing;
use crate::metrics::{Operation, Requests, Snapshot, Store};
use std::fs;
use std::time::Duration;
use stoa_fuse::{OpCount, OpStats};
use stoa_objects::Verb;

/// Where the counts are.
#[derive(Debug)]
pub(super) struct Counted<'a> {
    pub(super) mountpoint: &'a str,
    pub(super) store_name: &'a str,
    pub(super) age: Duration,
    /// None before it is mounted.
    pub(super) door: Option<&'a OpStats>,
    pub(super) backing: &'a Backing,
}

impl Counted<'_> {
    /// All of them.
    pub(super) fn snapshot(&self) -> Snapshot {
        let (dirty_bytes, uncommitted_operations) = self.backing.unstored();
        Snapshot {
            mountpoint: self.mountpoint.to_owned(),
            store_name: self.store_name.to_owned(),
            age_ns: nanos(self.age),
            operations: self.door.map(|door| door.counts().iter().map(operation).collect()).unwrap_or_default(),
            operations_waiting: self.door.map_or(0, OpStats::in_flight),
            read_bytes: self.door.map_or(0, OpStats::read_bytes),
            written_bytes: self.door.map_or(0, OpStats::written_bytes),
            store: store(self.backing),
            cache: self.backing.cache(),
            dirty_bytes,
            uncommitted_operations,
            volume: self.backing.figures(),
            resident_bytes: resident_bytes().unwrap_or(0),
            memory_bytes_max: self.backing.memory_bytes_max(),
        }
    }
}

fn operation(counted: &OpCount) -> Operation {
    Operation {
        name: counted.op.to_owned(),
        errors: counted.errors,
        total_ns: nanos(counted.times.total),
        max_ns: nanos(counted.times.max),
        buckets: counted.times.buckets.iter().map(|(longest, count)| (nanos(*longest), *count)).collect(),
    }
}

fn store(backing: &Backing) -> Store {
    let (counts, health) = (backing.meter().counts(), backing.health().report());
    let requests = Verb::ALL.iter().map(|verb| Requests { verb: verb.name().to_owned(), count: counts.of(*verb) });
    Store {
        requests: requests.collect(),
        received_bytes: counts.bytes_in,
        sent_bytes: counts.bytes_out,
        failed_answers: counts.failures,
        failures: health.failures,
        failures_in_row: health.failures_in_row,
        waiting: health.waiting,
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Memory of this process (VmRSS of /proc/self/status).
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
