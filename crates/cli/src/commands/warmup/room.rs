//! How much a cache can take in.

use crate::metrics::Cache;
use crate::output::bytes;

/// The room in a cache, whoever uses it now: what is warmed up takes the place of what was used longest ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Most bytes it holds: as stored (compressed) on disk, as read in memory.
    pub(super) bytes_max: u64,
    /// Whether that is on disk.
    pub(super) on_disk: bool,
}

impl Room {
    /// The room of a cache: of the disk, if it has one.
    pub(super) fn of(cache: &Cache) -> Self {
        match cache.disk_bytes_max {
            0 => Self { bytes_max: cache.memory_bytes_max, on_disk: false },
            bytes_max => Self { bytes_max, on_disk: true },
        }
    }

    /// How many bytes of files may be read before what was read first is thrown out again; without end if it is not these
    /// that count.
    pub(super) fn read_bytes_max(&self) -> u64 {
        if self.on_disk { u64::MAX } else { self.bytes_max }
    }

    /// Whether a disk cache has been filled since `before`.
    pub(super) fn is_used_up(&self, before: &Cache, now: &Cache) -> bool {
        self.on_disk && now.fetched_bytes.saturating_sub(before.fetched_bytes) >= self.bytes_max
    }

    /// What to say if the disk took in less than came from the store: a cache does not wait for a slow disk.
    pub(super) fn lag(&self, before: &Cache, now: &Cache) -> Option<String> {
        let fetched = now.fetched_bytes.saturating_sub(before.fetched_bytes);
        let kept = now.disk_bytes.saturating_sub(before.disk_bytes);
        // A full cache does not grow, and what is on its way to the disk is a few MiB at most.
        let is_short = self.on_disk && now.disk_bytes < self.bytes_max / 2 && fetched > kept + fetched / 10 + (4 << 20);
        is_short.then(|| {
            format!(
                "the cache on disk kept {} of the {} that came from the store, which was faster than the disk; do this again \
                 for the rest, or with a smaller --parallel",
                bytes(kept),
                bytes(fetched)
            )
        })
    }

    /// What to say if more is asked for than it holds.
    pub(super) fn too_small(&self, asked_bytes: u64) -> String {
        format!(
            "{} are asked for, and the cache {} holds {}: {}",
            bytes(asked_bytes),
            self.place(),
            bytes(self.bytes_max),
            if self.on_disk { "as much as fits when compressed is read" } else { "only so much is read" }
        )
    }

    /// What to say when it is full.
    pub(super) fn full(&self) -> String {
        let flag = if self.on_disk { "--cache-size" } else { "--memory, or --cache-dir for a cache on disk" };
        format!(
            "the cache {} is full ({}), and more would push out what was just read; mount with a larger {flag}",
            self.place(),
            bytes(self.bytes_max)
        )
    }

    fn place(&self) -> &'static str {
        if self.on_disk { "on disk" } else { "in memory" }
    }
}

#[cfg(test)]
mod tests;
