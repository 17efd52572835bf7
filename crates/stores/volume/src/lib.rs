//! The volume: a complete, log-structured POSIX file system in a bucket prefix.

mod error;
mod options;
mod report;
mod volume;

pub use error::{Error, Result};
pub use options::{FormatOptions, FsckOptions, OpenOptions, Owner};
pub use report::{ExtentInfo, FileInfo, FsckReport, GcReport, Problem, Progress, Status, VolumeInfo};
pub use volume::{Volume, format};
