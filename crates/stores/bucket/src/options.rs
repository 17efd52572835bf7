//! What a person can choose about a mounted bucket.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use stoa_objects::s3::Storage;
use stoa_objects::s3::limits::COPY_BYTES_MAX;

/// Where the attributes of files come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attributes {
    /// The listing alone: size and time of writing. Mode and owner are those of the options, and every object is a regular file.
    #[default]
    Listing,
    /// Each object's user metadata too (mode, owner, time, symbolic links, as s3fs and rclone write them), which costs a
    /// HEAD request for each object, and for each directory.
    Objects,
}

/// How to open a bucket as files.
#[derive(Debug, Clone)]
pub struct Options {
    /// Refuse every change.
    pub read_only: bool,
    /// Show what was there at this time, by the server's clock, of a bucket that keeps versions. That can't be changed.
    pub at: Option<SystemTime>,
    /// How long what was heard of names, attributes and listings is believed. With zero, nothing is.
    pub ttl: Duration,
    /// Where attributes come from.
    pub attributes: Attributes,
    /// The owner of what says none.
    pub uid: u32,
    /// The group of what says none.
    pub gid: u32,
    /// Permission bits of files that say none.
    pub file_mode: u32,
    /// Permission bits of directories that say none.
    pub dir_mode: u32,
    /// How many keys to list at once at most; servers give no more than 1,000.
    pub page_keys_max: Option<u16>,
    /// How new objects are stored; those that are there stay as they are.
    pub storage: Storage,
    /// The longest object that one request copies inside the store, in bytes; S3 takes 5 GiB. Longer ones are copied in parts.
    pub copy_bytes_max: u64,
    /// For so long nothing is heard of a rename of a directory by another machine before it counts as left.
    pub rename_lease: Duration,
    /// The most memory to use for caches, in bytes: data, listings and names together.
    pub memory_bytes_max: u64,
    /// Where to cache data on a local disk, if anywhere.
    pub cache_dir: Option<PathBuf>,
    /// The most bytes to keep there.
    pub cache_bytes_max: u64,
    /// Where written bytes go for which there is no memory, in files without a name. It should be on a disk.
    pub spill_dir: PathBuf,
    /// The name of this machine: `name.conflict-HOST-TIME` is what was written here when somebody else has written `name` meanwhile.
    pub host: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            read_only: false,
            at: None,
            ttl: Duration::from_secs(60),
            attributes: Attributes::Listing,
            uid: 0,
            gid: 0,
            file_mode: 0o644,
            dir_mode: 0o755,
            page_keys_max: None,
            storage: Storage::default(),
            copy_bytes_max: COPY_BYTES_MAX,
            rename_lease: Duration::from_secs(120),
            memory_bytes_max: 1 << 30,
            cache_dir: None,
            cache_bytes_max: 10 << 30,
            spill_dir: PathBuf::from("/var/tmp"),
            host: "here".to_owned(),
        }
    }
}
