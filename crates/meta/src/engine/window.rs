//! Windows of directories: many entries read at once, for the pages of a listing, and for the lookups that follow one another.
//!
//! A page of a listing is what fits into one answer of a door, some hundred entries. Reading each page by itself would cost
//! requests to the store for every one of them; a window costs about as much as a page does.

use super::Inner;
use super::read::bucket_of;
use crate::Result;
use crate::record::{Bucket, RecordKey};
use quick_cache::Weighter;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_vfs::{Ino, Kind};

/// Buckets in a window, at most.
pub(super) const WINDOW_MAX: usize = 4096;

/// What a bucket of a window takes in memory, roughly, in bytes.
const BUCKET_BYTES: u64 = 224;

/// The buckets of a directory from one hash to another. In the cache only as long as the directory does not change.
#[derive(Debug)]
pub(super) struct Window {
    /// No bucket from here on is missing,
    start: u64,
    /// up to here, or to the end of the directory.
    pub(super) end: Option<u64>,
    buckets: Vec<(u64, Arc<Bucket>)>,
}

#[derive(Debug, Clone)]
pub(super) struct Weigh;

impl Weighter<Ino, Arc<Window>> for Weigh {
    fn weight(&self, _: &Ino, window: &Arc<Window>) -> u64 {
        BUCKET_BYTES * u64::try_from(window.buckets.len() + 1).unwrap_or(u64::MAX)
    }
}

impl Window {
    /// All buckets of a directory.
    pub(super) fn whole(buckets: Vec<(u64, Arc<Bucket>)>) -> Self {
        Self { start: 0, end: None, buckets }
    }

    /// The buckets with `hash` or a greater one.
    pub(super) fn from(&self, hash: u64) -> &[(u64, Arc<Bucket>)] {
        let first = self.buckets.partition_point(|(found, _)| *found < hash);
        self.buckets.get(first..).unwrap_or_default()
    }

    /// The inodes that its entries name.
    fn inodes(&self) -> impl Iterator<Item = Ino> + '_ {
        self.buckets.iter().flat_map(|(_, bucket)| bucket.dentries.iter().map(|dentry| dentry.ino))
    }

    fn covers(&self, hash: u64) -> bool {
        self.start <= hash && self.end.is_none_or(|end| hash < end)
    }
}

impl Inner {
    /// A window that begins at `hash` or before it, and whether it had to be read. The lock of `dir` is held.
    pub(super) async fn window(&self, dir: Ino, hash: u64) -> Result<(Arc<Window>, bool)> {
        if let Some(window) = self.cached.windows.get(&dir).filter(|window| window.covers(hash)) {
            return Ok((window, false));
        }
        let window = Arc::new(self.read_window(dir, hash).await?);
        if window.start == 0 && window.end.is_none() {
            self.know_all(dir, &window);
        }
        self.cached.windows.insert(dir, Arc::clone(&window));
        Ok((window, true))
    }

    async fn read_window(&self, dir: Ino, start: u64) -> Result<Window> {
        let (_, end) = RecordKey::all_about(b'd', dir.0);
        let records = self.scan(RecordKey::Bucket(dir, start).encode()..end, self.cached.window_max).await?;
        let full = records.len() == self.cached.window_max;
        let mut buckets = Vec::with_capacity(records.len());
        for (key, value) in records {
            let (_, hash, bucket) = bucket_of(dir, &key, value)?;
            buckets.push((hash, bucket));
        }
        let next = buckets.last().map_or(start, |(hash, _)| hash + 1);
        Ok(Window { start, end: full.then_some(next), buckets })
    }

    /// Holds every entry of a directory that fits into one window.
    pub(super) fn know_all(&self, dir: Ino, window: &Window) {
        for (hash, bucket) in &window.buckets {
            self.cached.buckets.insert((dir, *hash), Arc::clone(bucket));
        }
        self.cached.whole.know(dir, window.buckets.iter().map(|(hash, _)| *hash).collect::<HashSet<u64>>());
    }

    /// Reads the whole directory when one of its names is looked up, if it is not large: others will be. The lock of `parent` is held.
    /// Returns the inodes that it names, if it was read.
    pub(super) async fn read_small_directory(&self, parent: Ino) -> Result<Option<Vec<Ino>>> {
        if self.cached.whole.knows(parent) {
            return Ok(None);
        }
        let directory = self.stored_inode(parent).await?;
        let small = directory.size < u64::try_from(self.cached.window_max).unwrap_or(u64::MAX);
        if directory.kind != Kind::Directory || !small {
            return Ok(None);
        }
        let (window, read) = self.window(parent, 0).await?;
        Ok(read.then(|| window.inodes().collect()))
    }

    /// Reads the inodes of a window that are not held, all together.
    pub(super) async fn load_window(&self, window: &Window) -> Result<()> {
        let missing = window.inodes().filter(|ino| self.cached.inodes.peek(ino).is_none());
        self.load_inodes(missing.collect()).await
    }
}
