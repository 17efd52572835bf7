//! How a volume is mounted.

use crate::{Error, Result};

/// How a volume is mounted. [`MountOptions::default`] is right for most.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "mount options are what they are")]
pub struct MountOptions {
    /// What `mount` and `df` show as the device.
    pub source: String,
    /// Whether other users see the mount; `None` lets them if root mounts.
    pub allow_other: Option<bool>,
    /// Refuse writes; a store that takes none is mounted so in any case.
    pub read_only: bool,
    /// Let set-uid programs act as their owner.
    pub suid: bool,
    /// Let device files be devices.
    pub dev: bool,
    /// Refuse to run programs.
    pub noexec: bool,
    /// Show in the table of mounts that times of last access stay. Who changes them, or not, is the store.
    pub noatime: bool,
    /// Threads that read requests; `None` takes one a processor, 2 to 8.
    pub workers: Option<usize>,
    /// How far the kernel reads ahead, in bytes.
    pub readahead_bytes: u32,
    /// Requests without a waiting caller (read-ahead, write-back) that may be under way at once. Each write among them holds a MiB
    /// while a store that is full lets it wait.
    pub background_max: u16,
    /// Pages written by programs, in bytes, that the kernel may hold back before writers wait; at half of it the kernel begins to
    /// write. For Linux 6.2 and later, when root mounts.
    pub dirty_bytes_max: u64,
    /// Buffers of a MiB, in use and kept for the next writes while there are some; a second later all but a few of these are freed. More
    /// than this are used if the store takes so much, and not kept.
    pub buffers_max: usize,
}

impl Default for MountOptions {
    fn default() -> Self {
        Self {
            source: "stoa".to_owned(),
            allow_other: None,
            read_only: false,
            suid: false,
            dev: false,
            noexec: false,
            noatime: false,
            workers: None,
            readahead_bytes: 1 << 20,
            background_max: 64,
            dirty_bytes_max: 128 << 20,
            buffers_max: 256,
        }
    }
}

/// The most worker threads.
const WORKERS_MAX: usize = 8;

impl MountOptions {
    /// How many threads to start.
    pub(crate) fn worker_count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        self.workers.unwrap_or_else(|| cores().max(2)).clamp(1, WORKERS_MAX)
    }

    /// The source, if it can stand in a list of options and a line of the mount table.
    ///
    /// # Errors
    /// [`Error::Option`] for one with a comma, a backslash, or a control character.
    pub(crate) fn checked_source(&self) -> Result<&str> {
        let bad = |c: char| c == ',' || c == '\\' || c.is_control();
        if self.source.is_empty() || self.source.contains(bad) {
            return Err(Error::Option(self.source.clone()));
        }
        Ok(&self.source)
    }
}
