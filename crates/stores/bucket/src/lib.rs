//! Objects of a bucket as files: `photos/cat.jpg` is the file `cat.jpg` in the directory `photos`, and stays a plain object that every
//! other program of S3 goes on using.
//!
//! **An inode is one content**: a key and an ETag. An object that is replaced is another file under the same name, as if it had been
//! renamed over. So the bytes of two contents never meet in one file: not in a read, not in a cache.
//!
//! What is written to a file here is the one exception: it keeps its inode. It is in the store, all at once, when the file is closed or
//! synced, and not before.
//!
//! **Numbers are hashes** of what an inode is of, so nothing has to be remembered of those that the kernel has forgotten.

mod attributes;
mod bucket;
mod closing;
mod content_type;
mod copying;
mod directory;
mod draft;
mod error;
mod escape;
mod extents;
mod found;
mod info;
mod inodes;
mod layout;
mod listing;
mod lookup;
mod metadata;
mod moves;
mod naming;
mod opening;
mod operations;
mod options;
mod parts;
pub mod past;
mod reading;
mod recent;
mod rename;
mod rights;
mod source;
mod spill;
mod symlink;
pub mod tree;
mod view;
mod what;
mod writing;
mod xattrs;

pub use bucket::{Bucket, Status, check};
pub use closing::Unfinished;
pub use error::{Error, Result};
pub use info::{FileInfo, State};
pub use moves::Rename;
pub use options::{Attributes, Options};
pub use stoa_cache::{DiskState, Usage as CacheUsage};
pub use what::What;
