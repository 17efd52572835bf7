//! The volume: a complete, log-structured POSIX file system in a bucket prefix.

mod caching;
mod cleaning;
mod clock;
mod defragment;
mod error;
mod file;
mod flushing;
mod fsck;
mod info;
mod layout;
mod log;
mod neighbours;
mod operations;
mod options;
mod ownership;
mod published;
mod reading;
mod references;
mod report;
mod segment;
mod volume;
mod writing;

pub use error::{Error, Result};
pub use options::{FormatOptions, FsckOptions, OpenOptions, Owner};
pub use report::{ExtentInfo, FileInfo, FsckReport, GcReport, Problem, Progress, Silent, Status, VolumeInfo};
pub use stoa_cache::{DiskState, Usage as CacheUsage};
pub use volume::{Volume, format};

/// A hole in a file.
fn hole(range: std::ops::Range<u64>) -> stoa_meta::Extent {
    stoa_meta::Extent { offset: range.start, len: range.end - range.start, content: stoa_meta::Content::Hole }
}
