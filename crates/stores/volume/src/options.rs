//! What a person can choose about a volume.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Settings made once, at format time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatOptions {
    /// zstd level of file data, 1 to 19; 0 stores it as it is.
    pub compression_level: u8,
    /// Mode, owner and group of the root directory.
    pub root_mode: u32,
    /// Owner of the root directory.
    pub root_uid: u32,
    /// Group of the root directory.
    pub root_gid: u32,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self { compression_level: 1, root_mode: 0o755, root_uid: 0, root_gid: 0 }
    }
}

/// How to open a volume.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Refuse every change.
    pub read_only: bool,
    /// Shut out the mount that owns the volume, if one does.
    pub take_over: bool,
    /// Leave times of last access as they are when something is read.
    pub noatime: bool,
    /// The most memory to use for dirty data and caches together, in bytes.
    pub memory_bytes_max: u64,
    /// Where to cache stored data on a local disk, if anywhere.
    pub cache_dir: Option<PathBuf>,
    /// The most bytes to keep there.
    pub cache_bytes_max: u64,
    /// How long a change may wait before it is made durable without being asked for.
    pub commit_interval: Duration,
    /// Who opens it: written into the bucket, shown to whoever is refused.
    pub owner: Owner,
}

impl OpenOptions {
    /// The defaults, for `owner`.
    #[must_use]
    pub fn new(owner: Owner) -> Self {
        Self {
            read_only: false,
            take_over: false,
            noatime: false,
            memory_bytes_max: 1 << 30,
            cache_dir: None,
            cache_bytes_max: 10 << 30,
            commit_interval: Duration::from_secs(1),
            owner,
        }
    }
}

/// Who owns an open volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Host name.
    pub host: String,
    /// `/proc/sys/kernel/random/boot_id` of that host's present boot.
    pub boot_id: String,
    /// `/etc/machine-id` of that host; empty if it has none. Host names repeat.
    #[serde(default)]
    pub machine_id: String,
    /// Inode of `/proc/self/ns/pid`, within which the process id means something; 0 if not known.
    #[serde(default)]
    pub pid_namespace: u64,
    /// Process id there.
    pub pid: u32,
    /// Start time of that process in clock ticks since boot (field 22 of `/proc/PID/stat`), to tell it from a later one with its pid.
    pub pid_started: u64,
    /// Where it is mounted, or what it is used for (`fsck`, `gc`).
    pub purpose: String,
}

impl Owner {
    /// An owner of which no more is known: to others it counts as alive until it releases the volume.
    #[must_use]
    pub fn new(host: impl Into<String>, purpose: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            boot_id: String::new(),
            machine_id: String::new(),
            pid_namespace: 0,
            pid: 0,
            pid_started: 0,
            purpose: purpose.into(),
        }
    }
}

/// What a check looks at, and whether it mends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FsckOptions {
    /// Read and verify every frame of data too.
    pub data: bool,
    /// Mend what can be mended without losing anything.
    pub repair: bool,
}
