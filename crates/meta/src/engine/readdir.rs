//! Listing directories, in the order of the hashes of names.

use super::Inner;
use super::read::{bad, successor};
use super::window::Window;
use crate::Result;
use crate::record::{Dentry, Inode, Key, RecordKey};
use futures::{StreamExt, TryStreamExt, stream};
use std::ops::RangeInclusive;
use std::sync::Arc;
use stoa_vfs::{Cookie, DirEntry, DirPage, Entry, Error as FileError, Ino, Kind};

/// Inodes whose numbers are no further apart than this lie in the same, or the next, block of a table: reading all between them costs
/// less than asking twice.
const APART_MAX: u64 = 64;

/// Scans under way at once while inodes are read ahead.
const SCANS_MAX: usize = 16;

/// Fewer missing inodes than this are read when they are used.
const FEW: usize = 2;

impl Inner {
    pub(super) async fn read_directory(
        &self,
        dir: Ino,
        mut after: Cookie,
        count: usize,
        attributes: bool,
    ) -> Result<DirPage> {
        loop {
            let (mut page, window) = {
                let _unchanged = self.locks.shared(&[dir]).await;
                if self.locked_inode(dir).await?.kind != Kind::Directory {
                    return Err(FileError::NotDirectory.into());
                }
                self.entries(dir, after, count).await?
            };
            let last = page.entries.last().map(|entry| entry.cookie);
            if let Some(window) = &window {
                if attributes {
                    self.load_window(window).await?;
                }
                self.read_directories_beside(dir).await;
            }
            if attributes {
                self.add_attributes(&mut page).await?;
            }
            match last {
                // An empty page would be taken for the end.
                Some(last) if page.entries.is_empty() && !page.end => after = last,
                _ => return Ok(page),
            }
        }
    }

    /// Adds the attributes of all entries, and drops those that lost their last name since they were listed, as they may.
    async fn add_attributes(&self, page: &mut DirPage) -> Result<()> {
        let missing = page.entries.iter().map(|entry| entry.ino).filter(|ino| self.cached.inodes.peek(ino).is_none());
        self.load_inodes(missing.collect()).await?;
        for entry in &mut page.entries {
            entry.entry = match self.inode(entry.ino).await {
                Ok(inode) => Some(Entry { attr: inode.attr(entry.ino) }),
                Err(crate::Error::File(FileError::Stale)) => None,
                Err(error) => return Err(error),
            };
        }
        page.entries.retain(|entry| entry.entry.is_some());
        Ok(())
    }

    /// Entries after `after`, and the window they are from if it was read just now. The lock of `dir` is held.
    async fn entries(&self, dir: Ino, after: Cookie, count: usize) -> Result<(DirPage, Option<Arc<Window>>)> {
        let mut page = DirPage { entries: Vec::with_capacity(count.min(4096)), end: false };
        let mut hash = Dentry::hash_of(after);
        loop {
            let (window, read) = self.window(dir, hash).await?;
            let full = !add_entries(&mut page, &window, after, hash, count);
            match window.end {
                Some(next) if !full && page.entries.is_empty() => hash = next,
                end => {
                    page.end = !full && end.is_none();
                    return Ok((page, read.then_some(window)));
                }
            }
        }
    }

    /// Of inodes that may be asked for, reads those that lie together, if there are not too many such places.
    pub(super) async fn load_clusters(&self, mut named: Vec<Ino>) -> Result<()> {
        named.sort_unstable();
        let clusters: Vec<&[Ino]> = named.chunk_by(together).filter(|cluster| cluster.len() >= FEW).collect();
        // A directory may hold as many as it likes from all over the volume: to read all would be to read that.
        if clusters.len() > SCANS_MAX { Ok(()) } else { self.load_inodes(clusters.concat()).await }
    }

    /// Reads inodes ahead of their use, those that lie together in one scan.
    pub(super) async fn load_inodes(&self, mut missing: Vec<Ino>) -> Result<()> {
        if missing.len() < FEW {
            return Ok(());
        }
        missing.sort_unstable();
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        if let Some(block) = self.inodes_beside(*first, *last) {
            return self.load_cluster(missing, block).await;
        }
        let loads = missing.chunk_by(together).filter_map(|cluster| {
            let range = *cluster.first()?..=*cluster.last()?;
            Some(self.load_cluster(cluster.to_vec(), range))
        });
        let loads: Vec<_> = loads.collect();
        stream::iter(loads).buffer_unordered(SCANS_MAX).try_collect::<()>().await
    }

    /// Reads the inodes of `range`, with those that are `missing`, which are sorted.
    async fn load_cluster(&self, missing: Vec<Ino>, range: RangeInclusive<Ino>) -> Result<()> {
        let shown = self.pending.commits_shown();
        let keys = RecordKey::Inode(*range.start()).encode()..successor(&RecordKey::Inode(*range.end()).encode());
        let mut found = Vec::with_capacity(missing.len());
        self.scan_all(keys, |key, value| {
            let Ok(RecordKey::Inode(ino)) = RecordKey::decode(&key) else { return Ok(()) };
            match Inode::decode(value) {
                Ok(inode) => found.push((key, ino, inode)),
                Err(error) if missing.binary_search(&ino).is_ok() => return Err(bad("inode", ino, &error)),
                // Whoever asks for it is going to hear of it.
                Err(_) => (),
            }
            Ok(())
        })
        .await?;
        for (key, ino, inode) in found {
            self.keep_loaded(&key, ino, inode, shown).await;
        }
        Ok(())
    }

    /// Holds an inode that was read without its lock: a wait for the store under so many locks would make everybody wait. What may
    /// have changed since is left out, and read again when it is used.
    async fn keep_loaded(&self, key: &Key, ino: Ino, inode: Inode, shown: u64) {
        if self.cached.inodes.peek(&ino).is_some() {
            return;
        }
        let _unchanged = self.locks.shared(&[ino]).await;
        if self.cached.inodes.peek(&ino).is_none() && self.pending.is_unchanged(key, shown) {
            self.cached.inodes.insert(ino, Arc::new(inode));
        }
    }
}

fn together(a: &Ino, b: &Ino) -> bool {
    b.0 - a.0 <= APART_MAX
}

/// Adds the entries of `window` from `hash` on and after `after`; `false` when there is no room for all.
fn add_entries(page: &mut DirPage, window: &Window, after: Cookie, hash: u64, count: usize) -> bool {
    for (hash, bucket) in window.from(hash) {
        for dentry in &bucket.dentries {
            let cookie = dentry.cookie(*hash);
            if cookie <= after {
                continue;
            }
            if page.entries.len() == count {
                return false;
            }
            page.entries.push(DirEntry {
                name: dentry.name.clone(),
                ino: dentry.ino,
                kind: dentry.kind,
                cookie,
                entry: None,
            });
        }
    }
    true
}
