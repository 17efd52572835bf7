//! What a cache has done and holds.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts and sizes at one moment. The counts begin at 0 when the cache is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Memory taken, in bytes: kept pieces, fetches under way and the disk cache's index.
    pub memory_bytes: u64,
    /// Most bytes of pieces that are kept in memory.
    pub memory_bytes_max: u64,
    /// Disk space taken, in bytes.
    pub disk_bytes: u64,
    /// Most disk space that is taken: 0 without a disk cache. It may be less than was asked for, where the disk has less room.
    pub disk_bytes_max: u64,
    /// Pieces asked for by readers and found in memory.
    pub hits: u64,
    /// Pieces asked for by readers and not found in memory.
    pub misses: u64,
    /// Pieces found on disk.
    pub disk_hits: u64,
    /// Bytes the object store has sent, including those between pieces.
    pub fetched_bytes: u64,
    /// Pieces thrown out of memory to make room.
    pub evictions: u64,
    /// Whether the disk cache works.
    pub disk: DiskState,
}

/// Whether the disk cache works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskState {
    /// None was asked for.
    Absent,
    /// It works.
    On,
    /// It has switched itself off for a while; the text says why. Reads go to the store.
    Off(String),
}

/// The counts behind [`Usage`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) disk_hits: AtomicU64,
    pub(crate) fetched_bytes: AtomicU64,
}

/// Adds to a count that orders nothing.
pub(crate) fn add(count: &AtomicU64, amount: u64) {
    count.fetch_add(amount, Ordering::Relaxed);
}

/// Reads a count that orders nothing.
pub(crate) fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
