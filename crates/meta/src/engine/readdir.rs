//! Listing directories, in the order of the hashes of names.

use super::Inner;
use super::read::{bad, successor};
use crate::Result;
use crate::record::{Bucket, Dentry, Inode, Malformed, RecordKey};
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
        after: Cookie,
        count: usize,
        attributes: bool,
    ) -> Result<DirPage> {
        let mut page = {
            let _unchanged = self.locks.shared(&[dir]).await;
            if self.locked_inode(dir).await?.kind != Kind::Directory {
                return Err(FileError::NotDirectory.into());
            }
            self.entries(dir, after, count).await?
        };
        if attributes {
            let missing =
                page.entries.iter().map(|entry| entry.ino).filter(|ino| self.cached.inodes.peek(ino).is_none());
            self.load_inodes(missing.collect()).await?;
            for entry in &mut page.entries {
                entry.entry = match self.inode(entry.ino).await {
                    Ok(inode) => Some(Entry { attr: inode.attr(entry.ino) }),
                    // It lost its last name since it was listed, as it may.
                    Err(crate::Error::File(FileError::Stale)) => None,
                    Err(error) => return Err(error),
                };
            }
            page.entries.retain(|entry| entry.entry.is_some());
        }
        Ok(page)
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
    async fn load_inodes(&self, mut missing: Vec<Ino>) -> Result<()> {
        missing.sort_unstable();
        let (Some(first), Some(last)) = (missing.first().copied(), missing.last().copied()) else { return Ok(()) };
        let count = u64::try_from(missing.len()).unwrap_or(u64::MAX);
        if missing.len() < FEW || (last.0 - first.0) / count >= DENSE {
            return Ok(());
        }
        let _unchanged = self.locks.shared(&missing).await;
        let range = RecordKey::Inode(first).encode()..successor(&RecordKey::Inode(last).encode());
        let cached = &self.cached.inodes;
        self.scan_all(range, |key, value| {
            if let Ok(RecordKey::Inode(ino)) = RecordKey::decode(&key)
                && missing.binary_search(&ino).is_ok()
            {
                let inode = Inode::decode(value).map_err(|error| bad("inode", ino, &error))?;
                cached.insert(ino, Arc::new(inode));
            }
            Ok(())
        })
        .await
    }
}
