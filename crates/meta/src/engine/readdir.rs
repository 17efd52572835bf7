//! Listing directories, in the order of the hashes of names.

use super::Inner;
use super::read::{bad, successor};
use crate::Result;
use crate::record::{Bucket, Dentry, Inode, Key, Malformed, RecordKey};
use std::sync::Arc;
use stoa_vfs::{Cookie, DirEntry, DirPage, Entry, Error as FileError, Ino, Kind};

/// Inodes that a directory's entries name lie this close together, on average, when reading all between them is cheaper than one by one.
const DENSE: u64 = 8;

/// Fewer missing inodes than this are read one by one.
const FEW: usize = 4;

impl Inner {
    pub(super) async fn read_directory(
        &self,
        dir: Ino,
        mut after: Cookie,
        count: usize,
        attributes: bool,
    ) -> Result<DirPage> {
        loop {
            let mut page = {
                let _unchanged = self.locks.shared(&[dir]).await;
                if self.locked_inode(dir).await?.kind != Kind::Directory {
                    return Err(FileError::NotDirectory.into());
                }
                self.entries(dir, after, count).await?
            };
            let last = page.entries.last().map(|entry| entry.cookie);
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

    async fn entries(&self, dir: Ino, after: Cookie, count: usize) -> Result<DirPage> {
        let (_, end) = RecordKey::all_about(b'd', dir.0);
        let start = RecordKey::Bucket(dir, Dentry::hash_of(after)).encode();
        let mut page = DirPage { entries: Vec::with_capacity(count.min(4096)), end: false };
        let wanted = count.saturating_add(1);
        let records = self.scan(start..end, wanted).await?;
        let complete = records.len() < wanted;
        for (key, value) in records {
            let RecordKey::Bucket(_, hash) = RecordKey::decode(&key).map_err(|error| bad("directory", dir, &error))?
            else {
                return Err(bad("directory", dir, &Malformed("another kind of record among entries")));
            };
            let bucket = Bucket::decode(value).map_err(|error| bad("directory", dir, &error))?;
            for dentry in bucket.dentries {
                let cookie = dentry.cookie(hash);
                if cookie <= after {
                    continue;
                }
                if page.entries.len() == count {
                    return Ok(page);
                }
                page.entries.push(DirEntry {
                    name: dentry.name,
                    ino: dentry.ino,
                    kind: dentry.kind,
                    cookie,
                    entry: None,
                });
            }
        }
        page.end = complete;
        Ok(page)
    }

    /// Reads inodes ahead of their use: those made together lie together, and come in one scan.
    pub(super) async fn load_inodes(&self, mut missing: Vec<Ino>) -> Result<()> {
        missing.sort_unstable();
        let (Some(first), Some(last)) = (missing.first().copied(), missing.last().copied()) else { return Ok(()) };
        let count = u64::try_from(missing.len()).unwrap_or(u64::MAX);
        if missing.len() < FEW || (last.0 - first.0) / count >= DENSE {
            return Ok(());
        }
        let shown = self.pending.commits_shown();
        let range = RecordKey::Inode(first).encode()..successor(&RecordKey::Inode(last).encode());
        let mut found = Vec::with_capacity(missing.len());
        self.scan_all(range, |key, value| {
            if let Ok(RecordKey::Inode(ino)) = RecordKey::decode(&key)
                && missing.binary_search(&ino).is_ok()
            {
                found.push((key, ino, Inode::decode(value).map_err(|error| bad("inode", ino, &error))?));
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
        let _unchanged = self.locks.shared(&[ino]).await;
        if self.cached.inodes.peek(&ino).is_none() && self.pending.is_unchanged(key, shown) {
            self.cached.inodes.insert(ino, Arc::new(inode));
        }
    }
}
