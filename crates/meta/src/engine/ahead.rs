//! Reading ahead in trees: who walks one asks for directory after directory, and for the inodes in each. What was made together lies
//! together, and a scan of many records costs little more than one of a few.

use super::Inner;
use super::read::bucket_of;
use super::window::Window;
use crate::record::{Bucket, RecordKey};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_vfs::Ino;

/// Inodes whose numbers differ by no more than this are near each other.
const NEAR: u64 = 4096;

/// Numbers are read in blocks of so many, so that in whatever order a tree is gone through, nothing is read twice.
const BLOCK: u64 = 1024;

/// Records of directories read at once.
const BUCKETS_MAX: usize = 4096;

/// Where somebody read last.
#[derive(Debug, Default)]
pub(super) struct Trail(AtomicU64);

impl Trail {
    /// Whether the last read ended near `from`; from now on it ended at `to`.
    pub(super) fn goes_on(&self, from: Ino, to: Ino) -> bool {
        let last = self.0.swap(to.0, Ordering::Relaxed);
        last != 0 && last != from.0 && last.abs_diff(from.0) <= NEAR
    }
}

/// A directory as it was read: its buckets, by hash.
type Buckets = Vec<(u64, Arc<Bucket>)>;

impl Inner {
    /// After `dir` was read: reads the directories beside it, if somebody goes through those around here. No lock is held. What can't
    /// be read is left to whoever asks for it.
    pub(super) async fn read_directories_beside(&self, dir: Ino) {
        if !self.cached.directories_read.goes_on(dir, dir) {
            return;
        }
        let shown = self.pending.commits_shown();
        let block = block_of(dir);
        let (start, _) = RecordKey::all_about(b'd', block.start().0);
        let (_, end) = RecordKey::all_about(b'd', block.end().0);
        let Ok(records) = self.scan(start..end, BUCKETS_MAX).await else { return };
        let full = records.len() == BUCKETS_MAX;
        let mut directories: Vec<(Ino, Buckets)> = Vec::new();
        for (key, value) in records {
            let Ok((ino, hash, bucket)) = bucket_of(dir, &key, value) else { return };
            let bucket = (hash, bucket);
            match directories.last_mut() {
                Some((same, buckets)) if *same == ino => buckets.push(bucket),
                _ => directories.push((ino, vec![bucket])),
            }
        }
        if full {
            // There may be more of the last one.
            directories.pop();
        }
        for (ino, buckets) in directories {
            self.keep_directory(ino, buckets, shown).await;
        }
    }

    /// Holds a directory that was read without its lock, unless it may have changed since.
    async fn keep_directory(&self, dir: Ino, buckets: Buckets, shown: u64) {
        let _unchanged = self.locks.shared(&[dir]).await;
        let (start, end) = RecordKey::all_about(b'd', dir.0);
        if self.cached.whole.knows(dir) || !self.pending.is_range_unchanged(&(start..end), shown) {
            return;
        }
        let window = Arc::new(Window::whole(buckets));
        self.know_all(dir, &window);
        self.cached.windows.insert(dir, window);
    }

    /// When inodes from `first` to `last` are asked for: those to read together with them, if somebody goes through those around here.
    pub(super) fn inodes_beside(&self, first: Ino, last: Ino) -> Option<RangeInclusive<Ino>> {
        let block = block_of(first);
        (self.cached.inodes_read.goes_on(first, last) && block.contains(&last)).then_some(block)
    }
}

fn block_of(ino: Ino) -> RangeInclusive<Ino> {
    let start = ino.0 - ino.0 % BLOCK;
    Ino(start)..=Ino(start + (BLOCK - 1))
}

#[cfg(test)]
mod tests;
