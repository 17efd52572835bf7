//! Objects of a bucket as files: `photos/cat.jpg` is the file `cat.jpg` in the directory `photos`, and stays a plain object that every
//! other program of S3 goes on using. Read-only so far.
//!
//! **An inode is one content**: a key and an ETag. An object that is replaced is another file under the same name, as if it had been
//! renamed over. So the bytes of two contents never meet in one file: not in a read, not in a cache.
//!
//! **Numbers are hashes** of what an inode is of, so nothing has to be remembered of those that the kernel has forgotten.

mod bucket;
mod directory;
mod error;
mod escape;
mod found;
mod inodes;
mod listing;
mod lookup;
mod metadata;
mod operations;
mod options;
mod reading;
mod recent;
mod source;

pub use bucket::{Bucket, Status, check};
pub use error::{Error, Result};
pub use options::{Attributes, Options};
pub use stoa_cache::{DiskState, Usage as CacheUsage};
