//! Reading records: from memory, from pending changes, from the key-value store, in this order.

use super::Inner;
use super::ahead::Trail;
use super::extents::HELD_MAX;
use super::window::{WINDOW_MAX, Window};
use crate::record::{Bucket, Inode, Key, Malformed, RecordKey, decode_extent};
use crate::{Error, Extent, Result};
use bytes::Bytes;
use quick_cache::sync::Cache;
use std::ops::Range;
use std::sync::Arc;
use stoa_vfs::{Ino, Kind, Name};

/// What one cached inode or bucket takes in memory, roughly, in bytes.
const RECORD_BYTES: u64 = 512;

/// Records read at a time by a scan; and those that may be as long as an attribute's value, which is 64 KiB.
const SCAN_PAGE: usize = 1024;
const LONG_PAGE: usize = 16;

/// Decoded records. Replaced only under the lock of the inode they belong to.
#[derive(Debug)]
pub(super) struct Cached {
    pub(super) inodes: Cache<Ino, Arc<Inode>>,
    /// By directory and hash; an empty bucket is a name that is known not to exist.
    pub(super) buckets: Cache<(Ino, u64), Arc<Bucket>>,
    /// Complete lists of extents.
    pub(super) extents: Cache<Ino, super::extents::Held, super::extents::Weigh>,
    /// The most extents of one file that are held while it is written.
    pub(super) held_max: usize,
    /// The heaviest list of extents that the cache takes, in bytes.
    pub(super) held_bytes_max: u64,
    /// Directories of which it is known what names they lack.
    pub(super) whole: super::whole::Whole,
    /// What listings read last.
    pub(super) windows: Cache<Ino, Arc<Window>, super::window::Weigh>,
    /// Buckets to read at once: not so many that they would push one another out.
    pub(super) window_max: usize,
    /// Where a directory, and where inodes, had to be read last.
    pub(super) directories_read: Trail,
    pub(super) inodes_read: Trail,
}

impl Cached {
    pub(super) fn new(memory_bytes: u64) -> Self {
        let share = memory_bytes / 5;
        let items = usize::try_from(share / RECORD_BYTES).unwrap_or(usize::MAX).max(1024);
        Self {
            inodes: Cache::new(items),
            buckets: Cache::new(items),
            extents: super::extents::lists(share.max(1 << 20)),
            held_max: usize::try_from(share / super::extents::HELD_BYTES).unwrap_or(usize::MAX).max(HELD_MAX),
            // What is not kept for lists that are new.
            held_bytes_max: share.max(1 << 20) * 9 / 10,
            whole: super::whole::Whole::new(share.max(1 << 20)),
            windows: Cache::with_weighter(64, share.max(1 << 20), super::window::Weigh),
            window_max: WINDOW_MAX.min(items / 4),
            directories_read: Trail::default(),
            inodes_read: Trail::default(),
        }
    }
}

impl Inner {
    /// The value of a record, with pending changes.
    pub(super) async fn value(&self, key: &RecordKey) -> Result<Option<Bytes>> {
        let key = key.encode();
        match self.pending.get(&key) {
            Some(value) => Ok(value),
            None => self.noticed(self.kv.get(&key).await),
        }
    }

    /// A read can be the first to hear that a newer owner shut this one out.
    fn noticed<T>(&self, read: Result<T>) -> Result<T> {
        if let Err(error @ Error::Fenced) = &read {
            self.stop_writing(error);
        }
        read
    }

    /// Up to `count` records of `range`, in order, with pending changes. What is in the range must be locked against changes.
    pub(super) async fn scan(&self, range: Range<Key>, count: usize) -> Result<Vec<(Key, Bytes)>> {
        let pending = self.pending.range(&range);
        // Every pending removal can hide a stored record.
        let removals = pending.values().filter(|value| value.is_none()).count();
        let stored = self.noticed(self.kv.scan(range, count.saturating_add(removals)).await)?;
        let mut records = Vec::with_capacity(stored.len());
        let mut pending = pending.into_iter().peekable();
        for (key, value) in stored {
            while let Some((before, change)) = pending.next_if(|(pending, _)| *pending < key) {
                records.extend(change.map(|value| (before, value)));
            }
            match pending.next_if(|(pending, _)| *pending == key) {
                Some((key, change)) => records.extend(change.map(|value| (key, value))),
                None => records.push((key, value)),
            }
        }
        records.extend(pending.filter_map(|(key, change)| change.map(|value| (key, value))));
        records.truncate(count);
        Ok(records)
    }

    /// Every record of `range`, a page at a time.
    pub(super) async fn scan_all(
        &self,
        range: Range<Key>,
        each: impl FnMut(Key, Bytes) -> Result<()> + Send,
    ) -> Result<()> {
        self.scan_pages(range, SCAN_PAGE, each).await
    }

    /// Every attribute of an inode: its key.
    pub(super) async fn scan_xattrs(&self, ino: Ino, mut each: impl FnMut(Key) -> Result<()> + Send) -> Result<()> {
        let (start, end) = RecordKey::all_about(b'x', ino.0);
        self.scan_pages(start..end, LONG_PAGE, |key, _| each(key)).await
    }

    async fn scan_pages(
        &self,
        mut range: Range<Key>,
        count: usize,
        mut each: impl FnMut(Key, Bytes) -> Result<()> + Send,
    ) -> Result<()> {
        loop {
            let page = self.scan(range.clone(), count).await?;
            let full = page.len() == count;
            if let Some((last, _)) = page.last() {
                range.start = successor(last);
            }
            for (key, value) in page {
                each(key, value)?;
            }
            if !full {
                return Ok(());
            }
        }
    }

    /// An inode that exists. Does not lock; the caller either holds its lock or can live with one that just changed.
    pub(super) async fn inode(&self, ino: Ino) -> Result<Arc<Inode>> {
        if let Some(inode) = self.cached.inodes.get(&ino) {
            return self.in_use(ino, inode);
        }
        let _unchanged = self.locks.shared(&[ino]).await;
        self.locked_inode(ino).await
    }

    /// An inode that exists, whose lock the caller holds.
    pub(super) async fn locked_inode(&self, ino: Ino) -> Result<Arc<Inode>> {
        self.in_use(ino, self.stored_inode(ino).await?)
    }

    pub(super) fn in_use(&self, ino: Ino, inode: Arc<Inode>) -> Result<Arc<Inode>> {
        if inode.is_unlinked() && self.abandoned.lock().contains(&ino) {
            return Err(stoa_vfs::Error::Stale.into());
        }
        Ok(inode)
    }

    /// Like [`Inner::locked_inode`], also one that is only waiting to be removed.
    pub(super) async fn stored_inode(&self, ino: Ino) -> Result<Arc<Inode>> {
        if let Some(inode) = self.cached.inodes.get(&ino) {
            return Ok(inode);
        }
        let value = self.value(&RecordKey::Inode(ino)).await?.ok_or(stoa_vfs::Error::Stale)?;
        let inode = Arc::new(Inode::decode(value).map_err(|error| bad("inode", ino, &error))?);
        self.cached.inodes.insert(ino, Arc::clone(&inode));
        Ok(inode)
    }

    /// Like [`Inner::locked_inode`], of a directory.
    pub(super) async fn locked_directory(&self, ino: Ino) -> Result<Arc<Inode>> {
        let inode = self.locked_inode(ino).await?;
        if inode.kind == Kind::Directory { Ok(inode) } else { Err(stoa_vfs::Error::NotDirectory.into()) }
    }

    /// The entries of `parent` whose names have `hash`.
    pub(super) async fn bucket(&self, parent: Ino, hash: u64) -> Result<Arc<Bucket>> {
        if let Some(bucket) = self.cached.buckets.get(&(parent, hash)) {
            return Ok(bucket);
        }
        let named = {
            let _unchanged = self.locks.shared(&[parent]).await;
            self.read_small_directory(parent).await?
        };
        if let Some(named) = named {
            // Whoever looks one name up is going to ask for the inodes of more.
            self.load_clusters(named).await?;
            self.read_directories_beside(parent).await;
        }
        let _unchanged = self.locks.shared(&[parent]).await;
        self.locked_bucket(parent, hash).await
    }

    /// Like [`Inner::bucket`], when the caller holds the lock of `parent`.
    pub(super) async fn locked_bucket(&self, parent: Ino, hash: u64) -> Result<Arc<Bucket>> {
        if let Some(bucket) = self.cached.buckets.get(&(parent, hash)) {
            return Ok(bucket);
        }
        let value = if self.cached.whole.lacks(parent, hash) {
            None
        } else {
            self.value(&RecordKey::Bucket(parent, hash)).await?
        };
        let bucket = match value {
            Some(value) => Bucket::decode(value).map_err(|error| bad("directory", parent, &error))?,
            None => Bucket::default(),
        };
        let bucket = Arc::new(bucket);
        self.cached.buckets.insert((parent, hash), Arc::clone(&bucket));
        Ok(bucket)
    }

    /// The inode that `name` in `parent` names. Does not lock.
    pub(super) async fn find(&self, parent: Ino, name: &Name) -> Result<Option<(Ino, Kind)>> {
        let bucket = self.bucket(parent, self.hash(name)).await?;
        Ok(bucket.find(name).map(|dentry| (dentry.ino, dentry.kind)))
    }

    /// Like [`Inner::find`], when the caller holds the lock of `parent`.
    pub(super) async fn locked_find(&self, parent: Ino, name: &Name) -> Result<Option<(Ino, Kind)>> {
        let bucket = self.locked_bucket(parent, self.hash(name)).await?;
        Ok(bucket.find(name).map(|dentry| (dentry.ino, dentry.kind)))
    }
}

/// The first key after `key`.
pub(super) fn successor(key: &Key) -> Key {
    let mut next = Vec::with_capacity(key.len() + 1);
    next.extend_from_slice(key);
    next.push(0);
    next.into()
}

/// Reads an extent record.
pub(super) fn extent_of(ino: Ino, key: &Key, value: Bytes) -> Result<Extent> {
    decode_extent(end_of(ino, key)?, value).map_err(|error| bad("extent", ino, &error))
}

/// Where the extent of a record ends in its file.
pub(super) fn end_of(ino: Ino, key: &Key) -> Result<u64> {
    match RecordKey::decode(key).map_err(|error| bad("extent", ino, &error))? {
        RecordKey::Extent(_, end) => Ok(end),
        _ => Err(bad("extent", ino, &Malformed("another kind of record among extents"))),
    }
}

/// Reads a bucket of a directory: whose it is, the hash of its names, and what it holds. `dir` is the directory that was read.
pub(super) fn bucket_of(dir: Ino, key: &Key, value: Bytes) -> Result<(Ino, u64, Arc<Bucket>)> {
    let RecordKey::Bucket(ino, hash) = RecordKey::decode(key).map_err(|error| bad("directory", dir, &error))? else {
        return Err(bad("directory", dir, &Malformed("another kind of record among entries")));
    };
    let bucket = Bucket::decode(value).map_err(|error| bad("directory", dir, &error))?;
    Ok((ino, hash, Arc::new(bucket)))
}

pub(super) fn bad(what: &str, ino: Ino, error: &Malformed) -> Error {
    Error::Corrupt(format!("{what} record of inode {ino}: {error}"))
}
