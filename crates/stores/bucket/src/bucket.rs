//! A bucket that is mounted.

use crate::directory::Directory;
use crate::found::Finder;
use crate::inodes::{Inodes, Node};
use crate::listing::{Pages, first_below};
use crate::moves::{Moves, Rename};
use crate::parts::Traffic;
use crate::reading::Open;
use crate::recent::Recent;
use crate::rights::Rights;
use crate::source::Versions;
use crate::view::View;
use crate::{Error, Options, Result};
use parking_lot::Mutex;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use stoa_cache::{Budget, Cache, DiskOptions, Usage};
use stoa_objects::s3::{S3Bucket, Storage};
use stoa_objects::{Error as ObjectsError, hex};
use stoa_vfs::Handles;

/// Shares of the memory ceiling: a half for data, as objects are larger than names;
const DATA_SHARE: u64 = 2;
/// an eighth for pages of listings;
const PAGES_SHARE: u64 = 8;
/// a sixteenth for single names,
const NAMES_SHARE: u64 = 16;
/// and an eighth for what is being written. What is left is for inodes that the kernel refers to, requests and stacks.
const WRITE_SHARE: u64 = 8;

/// The objects of a bucket, or of those in it whose keys begin with a prefix, as files. Implements [`stoa_vfs::Vfs`].
#[derive(Debug)]
pub struct Bucket {
    pub(crate) s3: View,
    pub(crate) cache: Arc<Cache>,
    pub(crate) finder: Finder,
    pub(crate) inodes: Inodes,
    pub(crate) pages: Pages,
    pub(crate) recent: Recent,
    pub(crate) handles: Handles<Open>,
    /// Files that were made here and are not in the store yet, by key.
    pub(crate) drafts: Mutex<HashMap<Arc<str>, Arc<Node>>>,
    /// How many were made, and one more: their names among each other.
    pub(crate) made: AtomicU64,
    /// Where files may be written, as far as that was seen.
    pub(crate) rights: Rights,
    /// Memory for what is written.
    pub(crate) budget: Budget,
    /// Parts of it on their way.
    pub(crate) traffic: Arc<Traffic>,
    /// Where it goes if there is none.
    pub(crate) spill_dir: Arc<Path>,
    pub(crate) host: String,
    pub(crate) read_only: bool,
    /// How long anything is believed here; the door believes it as long again.
    pub(crate) ttl: Duration,
    pub(crate) page_keys_max: Option<u16>,
    pub(crate) moves: Moves,
    /// How new objects are stored.
    pub(crate) storage: Storage,
    pub(crate) copy_bytes_max: u64,
    pub(crate) rename_lease: Duration,
    root: Directory,
    memory_bytes_max: u64,
}

/// How a mounted bucket is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The bucket.
    pub bucket: String,
    /// What the keys begin with that are mounted.
    pub prefix: String,
    /// Inodes that the kernel refers to.
    pub inodes: u64,
    /// Bytes that were written and have not arrived in the store yet, as far as they are counted against the memory for them.
    pub dirty_bytes: u64,
    /// Bytes of data cached in memory.
    pub cache_memory_bytes: u64,
    /// Bytes of data cached on disk.
    pub cache_disk_bytes: u64,
    /// The ceiling of all caches in memory.
    pub memory_bytes_max: u64,
    /// Directories that are being renamed.
    pub renames: Vec<Rename>,
}

/// Finds out whether a bucket answers, by listing one key below `prefix`; and whether there is one, for all that is known.
///
/// # Errors
/// What a person has to put right. Not that listing is denied: whoever knows a key may still be allowed to read it.
pub async fn check(s3: &S3Bucket, prefix: &str) -> stoa_objects::Result<bool> {
    match first_below(&View::new(s3.clone(), None), prefix).await {
        Err(error @ ObjectsError::Denied { .. }) => {
            tracing::warn!(%error, "listing is denied: names have to be known");
            Ok(true)
        }
        first => first.map(|first| first.is_some()),
    }
}

impl Bucket {
    /// The objects of `s3` whose keys begin with `prefix`, which is empty or ends with a slash, as files. Asks the store nothing; blocks
    /// on the disk if there is a cache there.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn open(s3: S3Bucket, prefix: &str, options: &Options) -> Result<Arc<Self>> {
        if !prefix.is_empty() && !prefix.ends_with('/') {
            return Err(Error::Option(format!("the prefix {prefix:?} does not end with a slash")));
        }
        let mut cache = stoa_cache::Options::new(options.memory_bytes_max / DATA_SHARE);
        cache.disk = options.cache_dir.clone().map(|dir| DiskOptions {
            dir,
            bytes_max: options.cache_bytes_max,
            volume: cache_folder(&s3, prefix),
        });
        let s3 = View::new(s3, options.at);
        let cache = Cache::open(Versions(s3.clone()), cache).map_err(|error| Error::Option(error.to_string()))?;
        let finder = Finder::new(options);
        let root = Directory::new(prefix);
        let ttl = options.ttl / 2;
        Ok(Arc::new(Self {
            inodes: Inodes::new(&finder.directory(root.clone(), None)),
            pages: Pages::new(options.memory_bytes_max / PAGES_SHARE),
            recent: Recent::new(ttl, options.memory_bytes_max / NAMES_SHARE),
            handles: Handles::default(),
            drafts: Mutex::default(),
            made: AtomicU64::new(1),
            rights: Rights::default(),
            budget: Budget::new(options.memory_bytes_max / WRITE_SHARE),
            traffic: Arc::default(),
            spill_dir: options.spill_dir.as_path().into(),
            host: named(&options.host),
            read_only: options.read_only || options.at.is_some(),
            s3,
            cache,
            finder,
            ttl,
            page_keys_max: options.page_keys_max,
            moves: Moves::default(),
            storage: options.storage.clone(),
            copy_bytes_max: options.copy_bytes_max,
            rename_lease: options.rename_lease,
            root,
            memory_bytes_max: options.memory_bytes_max,
        }))
    }

    /// How it is.
    #[must_use]
    pub fn status(&self) -> Status {
        let usage = self.cache.usage();
        Status {
            bucket: self.s3.name().to_owned(),
            prefix: self.root.prefix().to_owned(),
            inodes: self.inodes.count(),
            dirty_bytes: self.budget.used(),
            cache_memory_bytes: usage.memory_bytes,
            cache_disk_bytes: usage.disk_bytes,
            memory_bytes_max: self.memory_bytes_max,
            renames: self.moves.progress(),
        }
    }

    /// What the cache of data did and holds.
    #[must_use]
    pub fn cache_usage(&self) -> Usage {
        self.cache.usage()
    }

    /// The client of the bucket, which counts and records.
    #[must_use]
    pub fn s3(&self) -> &S3Bucket {
        &self.s3
    }

    pub(crate) fn root(&self) -> &Directory {
        &self.root
    }
}

/// A host as it is in a name: without anything that names can't have or people don't want to see there.
fn named(host: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-._".contains(character);
    host.chars().map(|character| if plain(character) { character } else { '-' }).take(64).collect()
}

/// The folder of its disk cache: another for each server, bucket and prefix.
fn cache_folder(s3: &S3Bucket, prefix: &str) -> String {
    let hash = Sha256::digest(format!("{s3:?} {prefix:?}"));
    format!("bucket-{}", hex(hash.iter().take(16)))
}
