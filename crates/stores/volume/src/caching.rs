//! What the cache of a volume did and holds.

use crate::volume::{CACHE_SHARE, Volume};
use serde::Serialize;
use stoa_cache::DiskState;

/// Counts since the volume was opened, and sizes now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheUsage {
    /// Frames that readers asked for and that were in memory.
    pub hits: u64,
    /// Frames that were not.
    pub misses: u64,
    /// Of those, and of what was read ahead: frames that were on disk.
    pub disk_hits: u64,
    /// Bytes that came from the store.
    pub fetched_bytes: u64,
    /// Frames thrown out of memory to make room.
    pub evictions: u64,
    /// Bytes in memory, fetches under way included.
    pub memory_bytes: u64,
    /// Most bytes that are kept in memory.
    pub memory_bytes_max: u64,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Whether there is a cache on disk, and it works.
    pub disk: bool,
}

impl Volume {
    /// What the cache did and holds.
    #[must_use]
    pub fn cache_usage(&self) -> CacheUsage {
        let usage = self.cache.usage();
        let share = self.memory_bytes_max() / CACHE_SHARE;
        // As the cache divides its memory: a quarter is for fetches, an eighth for the index of a disk cache.
        let index_bytes = if usage.disk == DiskState::Absent { 0 } else { share / 8 };
        CacheUsage {
            hits: usage.hits,
            misses: usage.misses,
            disk_hits: usage.disk_hits,
            fetched_bytes: usage.fetched_bytes,
            evictions: usage.evictions,
            memory_bytes: usage.memory_bytes,
            memory_bytes_max: share - share / 4 - index_bytes,
            disk_bytes: usage.disk_bytes,
            disk: usage.disk == DiskState::On,
        }
    }
}
