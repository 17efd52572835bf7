//! A mount at one moment.

use super::Operation;
use serde::{Deserialize, Serialize};

/// Counts since the mount began, and sizes now. The answer to `Request::Metrics`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    /// Where it is mounted.
    pub(crate) mountpoint: String,
    /// What is mounted.
    pub(crate) store_name: String,
    /// How long it has been mounted.
    pub(crate) age_ns: u64,
    /// Operations by kind; only kinds that occurred.
    pub(crate) operations: Vec<Operation>,
    /// Operations that wait for something.
    pub(crate) operations_waiting: u64,
    /// Bytes of files that programs read, but for what the kernel had cached.
    pub(crate) read_bytes: u64,
    /// Bytes of files that programs wrote.
    pub(crate) written_bytes: u64,
    /// What was asked of the store.
    pub(crate) store: Store,
    /// What the cache did.
    pub(crate) cache: Cache,
    /// Bytes written by programs and not in the store yet.
    pub(crate) dirty_bytes: u64,
    /// Changes of names and attributes that are not durable yet.
    pub(crate) uncommitted_operations: u64,
    /// What a volume holds, if one is mounted.
    pub(crate) volume: Option<VolumeFigures>,
    /// Memory of the process.
    pub(crate) resident_bytes: u64,
    /// The ceiling of dirty data and caches.
    pub(crate) memory_bytes_max: u64,
}

/// What a volume holds and does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VolumeFigures {
    /// Uploads under way.
    pub(crate) uploads_running: u64,
    /// Bytes of file data.
    pub(crate) used_bytes: u64,
    /// Inodes in use.
    pub(crate) inodes: u64,
    /// Whether another mount has taken it over.
    pub(crate) fenced: bool,
}

/// Requests sent to the store, repeated ones included, and bytes of objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Store {
    /// How many of each kind.
    pub(crate) requests: Vec<Requests>,
    /// Bytes received.
    pub(crate) received_bytes: u64,
    /// Bytes sent.
    pub(crate) sent_bytes: u64,
    /// Requests answered with an error, "not found" and the like included.
    pub(crate) failed_answers: u64,
    /// Attempts that failed in a way that is tried again or given up on.
    pub(crate) failures: u64,
    /// Those since one succeeded; 0 while the store works.
    pub(crate) failures_in_row: u64,
    /// Operations that wait for their next attempt.
    pub(crate) waiting: u64,
}

/// How many requests of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requests {
    /// The kind: `get`, `put`, `list`, ...
    pub(crate) verb: String,
    /// How many.
    pub(crate) count: u64,
}

/// What the cache of file data did and holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cache {
    /// Pieces that readers asked for and that were in memory.
    pub(crate) hits: u64,
    /// Pieces that were not.
    pub(crate) misses: u64,
    /// Pieces found on disk.
    pub(crate) disk_hits: u64,
    /// Bytes that came from the store.
    pub(crate) fetched_bytes: u64,
    /// Pieces thrown out of memory to make room.
    pub(crate) evictions: u64,
    /// Bytes in memory.
    pub(crate) memory_bytes: u64,
    /// Most bytes kept there.
    pub(crate) memory_bytes_max: u64,
    /// Bytes on disk.
    pub(crate) disk_bytes: u64,
    /// Most bytes kept there; 0 without a disk cache, or while it does not work.
    pub(crate) disk_bytes_max: u64,
}

impl Snapshot {
    /// Operations of every kind.
    pub(crate) fn operations_total(&self) -> u64 {
        self.operations.iter().map(Operation::count).sum()
    }
}

impl Store {
    /// Requests of the kinds in `verbs`.
    pub(crate) fn of(&self, verbs: &[&str]) -> u64 {
        self.requests.iter().filter(|one| verbs.contains(&one.verb.as_str())).map(|one| one.count).sum()
    }

    /// Requests of every kind.
    pub(crate) fn total(&self) -> u64 {
        self.requests.iter().map(|one| one.count).sum()
    }
}

/// For tests: a mount after some seconds, with a multiple of some counts.
#[cfg(test)]
pub(crate) fn example(seconds: u64, times: u64) -> Snapshot {
    let requests = [("put", 4), ("get", 10), ("list", 1), ("part", 2)];
    Snapshot {
        mountpoint: "/m".into(),
        store_name: "/s".into(),
        age_ns: seconds * 1_000_000_000,
        operations: vec![Operation {
            name: "read".into(),
            errors: 0,
            total_ns: 1,
            max_ns: 1,
            buckets: vec![(1, 100 * times)],
        }],
        operations_waiting: 0,
        read_bytes: times << 20,
        written_bytes: times << 10,
        store: Store {
            requests: requests.map(|(verb, count)| Requests { verb: verb.into(), count: count * times }).into(),
            received_bytes: times << 21,
            sent_bytes: times << 11,
            failed_answers: 0,
            failures: 0,
            failures_in_row: 0,
            waiting: 0,
        },
        cache: Cache { hits: 3 * times, misses: times, memory_bytes: 5 << 20, ..Cache::default() },
        dirty_bytes: 12_900_000,
        uncommitted_operations: 0,
        volume: Some(VolumeFigures { uploads_running: 0, used_bytes: 0, inodes: 0, fenced: false }),
        resident_bytes: 1 << 30,
        memory_bytes_max: 0,
    }
}
