//! What a cache is opened with.

use std::path::PathBuf;

use crate::{Error, Result};

/// How large a cache is and how it fetches.
#[derive(Debug, Clone)]
pub struct Options {
    /// The ceiling, in bytes, of all memory: decoded pieces, fetches under way, and the disk cache's index. Only a
    /// single piece that is larger than a quarter of it goes over, alone.
    pub memory_bytes_max: u64,
    /// The disk cache, when there is one.
    pub disk: Option<DiskOptions>,
    /// How many GETs may be under way at a time.
    pub fetches_max: usize,
    /// Two missing pieces at most this many bytes apart are fetched with one GET; the bytes between are thrown away.
    pub gap_bytes_max: u64,
    /// How many bytes one GET asks for at most, unless a single piece is larger.
    pub fetch_bytes_max: u64,
}

impl Options {
    /// A memory cache of so many bytes, without a disk, fetching as suits an object store.
    #[must_use]
    pub fn new(memory_bytes_max: u64) -> Self {
        Self { memory_bytes_max, disk: None, fetches_max: 16, gap_bytes_max: 256 << 10, fetch_bytes_max: 8 << 20 }
    }

    /// Refuses what could never fetch anything.
    pub(crate) fn check(&self) -> Result<()> {
        if self.memory_bytes_max == 0 {
            return Err(Error::Invalid("memory_bytes_max is 0"));
        }
        if self.fetches_max == 0 || self.fetches_max > tokio::sync::Semaphore::MAX_PERMITS {
            return Err(Error::Invalid("fetches_max is 0 or absurd"));
        }
        if self.fetch_bytes_max == 0 {
            return Err(Error::Invalid("fetch_bytes_max is 0"));
        }
        let plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
        if self.disk.as_ref().is_some_and(|disk| !plain(&disk.volume)) {
            return Err(Error::Invalid("the disk cache's volume is not a plain file name"));
        }
        Ok(())
    }
}

/// Where the disk cache is and how large it may get.
#[derive(Debug, Clone)]
pub struct DiskOptions {
    /// The directory of all disk caches of this machine's user. It is made if absent.
    pub dir: PathBuf,
    /// How many bytes the files of this cache may take.
    pub bytes_max: u64,
    /// Names this volume's folder in `dir`: a plain file name. One process at a time may use it.
    pub volume: String,
}
