//! How much of the memory of the engine goes where.

/// What changes may take in memory on their way to the store. The rest is for cached records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes of records in the key-value store before they become a sorted table.
    pub(super) table_bytes: usize,
    /// Bytes of records at which the key-value store lets writes wait until tables are stored.
    pub(super) unflushed_bytes: usize,
    /// Bytes of pending records at which a commit starts unasked.
    pub(super) kick_bytes: usize,
    /// Bytes of pending records at which operations wait for a commit.
    pub(super) wait_bytes: usize,
}

impl Limits {
    /// The limits for an engine that may use `memory_bytes` in all. Each has a least, below which commits would be all that it does.
    pub(super) fn of(memory_bytes: u64) -> Self {
        let share = |part: u64, least: usize, most: usize| {
            usize::try_from(memory_bytes / part).unwrap_or(usize::MAX).clamp(least << 20, most << 20)
        };
        let table_bytes = share(8, 1, 32);
        Self {
            table_bytes,
            unflushed_bytes: 2 * table_bytes,
            kick_bytes: share(16, 1, 16),
            wait_bytes: share(8, 4, 64),
        }
    }
}

#[cfg(test)]
mod tests;
