//! Looking up, linking and unlinking names.

use super::Inner;
use super::pending::Transaction;
use crate::record::{Bucket, Inode, RecordKey};
use crate::{Linked, Result};
use bytes::Bytes;
use std::sync::Arc;
use stoa_vfs::{Attr, Error as FileError, Ino, Kind, Name, Timestamp};

/// The most names a file can have (as on ext4 and XFS: a number that a count never overflows).
pub(super) const LINKS_MAX: u32 = 1 << 31;

/// Changes of one operation, gathered while it holds its locks: records for the transaction, decoded forms for the caches.
#[derive(Debug, Default)]
pub(super) struct Changing {
    pub(super) transaction: Transaction,
    inodes: Vec<(Ino, Option<Arc<Inode>>)>,
    buckets: Vec<((Ino, u64), Arc<Bucket>)>,
}

impl Changing {
    pub(super) fn put_inode(&mut self, ino: Ino, inode: Inode) {
        self.transaction.put_inode(ino, &inode);
        self.inodes.push((ino, Some(Arc::new(inode))));
    }

    pub(super) fn remove_inode(&mut self, ino: Ino) {
        self.transaction.remove(&RecordKey::Inode(ino));
        self.inodes.push((ino, None));
    }

    pub(super) fn put_bucket(&mut self, parent: Ino, hash: u64, bucket: Bucket) {
        let key = RecordKey::Bucket(parent, hash);
        match bucket.encode() {
            Some(value) => self.transaction.put(&key, value),
            None => self.transaction.remove(&key),
        }
        self.buckets.push(((parent, hash), Arc::new(bucket)));
    }
}

impl Inner {
    /// An inode as the operation under way has it. Its lock is held.
    pub(super) async fn inode_in(&self, changing: &Changing, ino: Ino) -> Result<Arc<Inode>> {
        match changing.inodes.iter().rev().find(|(changed, _)| *changed == ino) {
            Some((_, Some(inode))) => Ok(Arc::clone(inode)),
            Some((_, None)) => Err(FileError::Stale.into()),
            None => self.locked_inode(ino).await,
        }
    }

    /// A bucket as the operation under way has it. The lock of `parent` is held.
    async fn bucket_in(&self, changing: &Changing, parent: Ino, hash: u64) -> Result<Arc<Bucket>> {
        match changing.buckets.iter().rev().find(|(key, _)| *key == (parent, hash)) {
            Some((_, bucket)) => Ok(Arc::clone(bucket)),
            None => self.locked_bucket(parent, hash).await,
        }
    }

    /// Does what was gathered, while the locks are still held.
    pub(super) fn finish(&self, changing: Changing) {
        self.apply(changing.transaction);
        for (ino, inode) in changing.inodes {
            match inode {
                Some(inode) => self.cached.inodes.insert(ino, inode),
                None => drop(self.cached.inodes.remove(&ino)),
            }
        }
        for (key, bucket) in changing.buckets {
            self.cached.whole.changed(key.0, key.1, &bucket);
            self.cached.windows.remove(&key.0);
            self.cached.buckets.insert(key, bucket);
        }
    }

    pub(super) async fn lookup_name(&self, parent: Ino, name: &Name) -> Result<Attr> {
        // The entry and the inode are read one after the other: an inode that is gone by then had lost its name meanwhile.
        while let Some((ino, _)) = self.find(parent, name).await? {
            match self.inode(ino).await {
                Ok(inode) => return Ok(inode.attr(ino)),
                Err(crate::Error::File(FileError::Stale))
                    if self.find(parent, name).await?.map(|found| found.0) != Some(ino) => {}
                Err(crate::Error::File(FileError::Stale)) => {
                    return Err(crate::Error::Corrupt(format!(
                        "{name:?} in directory {parent} names inode {ino}, which is missing"
                    )));
                }
                Err(error) => return Err(error),
            }
        }
        if self.inode(parent).await?.kind == Kind::Directory {
            Err(FileError::NotFound.into())
        } else {
            Err(FileError::NotDirectory.into())
        }
    }

    pub(super) async fn link_name(self: &Arc<Self>, ino: Ino, parent: Ino, name: &Name) -> Result<Attr> {
        self.admit().await?;
        let _locked = self.locks.exclusive(&[ino, parent]).await;
        self.live_directory(parent).await?;
        let inode = self.locked_inode(ino).await?;
        if self.locked_find(parent, name).await?.is_some() {
            return Err(FileError::Exists.into());
        }
        if inode.kind == Kind::Directory {
            return Err(FileError::NotPermitted.into());
        }
        if inode.is_unlinked() && inode.flags & Inode::LINKABLE == 0 {
            return Err(FileError::NotFound.into());
        }
        if inode.nlink >= LINKS_MAX {
            return Err(FileError::TooManyLinks.into());
        }
        let mut changing = Changing::default();
        self.add_name(&mut changing, parent, name, ino, inode.kind).await?;
        let now = Timestamp::now();
        if inode.is_unlinked() {
            changing.transaction.remove(&RecordKey::Orphan(ino));
        }
        let flags = inode.flags & !Inode::LINKABLE;
        let inode = Inode { nlink: inode.nlink + 1, flags, ctime: now, ..(*inode).clone() };
        let attr = inode.attr(ino);
        changing.put_inode(ino, inode);
        self.resize(&mut changing, parent, 1, 0, now).await?;
        self.finish(changing);
        Ok(attr)
    }

    pub(super) async fn unlink_name(self: &Arc<Self>, parent: Ino, name: &Name) -> Result<Linked> {
        self.remove_name(parent, name, false).await
    }

    pub(super) async fn rmdir_name(self: &Arc<Self>, parent: Ino, name: &Name) -> Result<Linked> {
        self.remove_name(parent, name, true).await
    }

    async fn remove_name(self: &Arc<Self>, parent: Ino, name: &Name, directory: bool) -> Result<Linked> {
        self.admit().await?;
        loop {
            let Some((ino, kind)) = self.find(parent, name).await? else {
                let parent = self.inode(parent).await?;
                return Err(
                    if parent.kind == Kind::Directory { FileError::NotFound } else { FileError::NotDirectory }.into()
                );
            };
            let _locked = self.locks.exclusive(&[ino, parent]).await;
            if self.locked_find(parent, name).await? != Some((ino, kind)) {
                continue;
            }
            match (directory, kind == Kind::Directory) {
                (true, false) => return Err(FileError::NotDirectory.into()),
                (false, true) => return Err(FileError::IsDirectory.into()),
                _ => {}
            }
            let mut changing = Changing::default();
            let now = Timestamp::now();
            let linked = self.drop_link(&mut changing, ino, now).await?;
            self.take_name(&mut changing, parent, name).await?;
            self.resize(&mut changing, parent, -1, if directory { -1 } else { 0 }, now).await?;
            self.finish(changing);
            return Ok(linked);
        }
    }

    /// Takes one name from an inode; from a directory its only one, if it is empty. The locks are held.
    pub(super) async fn drop_link(&self, changing: &mut Changing, ino: Ino, now: Timestamp) -> Result<Linked> {
        let inode = self.inode_in(changing, ino).await?;
        let links = if inode.kind == Kind::Directory {
            if inode.size > 0 {
                return Err(FileError::NotEmpty.into());
            }
            0
        } else {
            inode.nlink.saturating_sub(1)
        };
        if links == 0 {
            changing.transaction.put(&RecordKey::Orphan(ino), Bytes::from_static(&[1]));
        }
        changing.put_inode(ino, Inode { nlink: links, ctime: now, ..(*inode).clone() });
        Ok(Linked { ino, links })
    }

    /// A directory that still has a name: only there can names be made. Its lock is held.
    pub(super) async fn live_directory(&self, ino: Ino) -> Result<Arc<Inode>> {
        let inode = self.locked_directory(ino).await?;
        if inode.is_unlinked() { Err(FileError::NotFound.into()) } else { Ok(inode) }
    }

    /// Adds a name that must be free. The lock of `parent` is held.
    pub(super) async fn add_name(
        &self,
        changing: &mut Changing,
        parent: Ino,
        name: &Name,
        ino: Ino,
        kind: Kind,
    ) -> Result<()> {
        let hash = self.hash(name);
        let bucket = self.bucket_in(changing, parent, hash).await?;
        if bucket.find(name).is_some() {
            return Err(FileError::Exists.into());
        }
        changing.put_bucket(parent, hash, bucket.with(name, ino, kind).ok_or(FileError::NoSpace)?);
        Ok(())
    }

    /// Makes `name` name this inode, whatever it named. The lock of `parent` is held.
    pub(super) async fn rename_to(
        &self,
        changing: &mut Changing,
        parent: Ino,
        name: &Name,
        ino: Ino,
        kind: Kind,
    ) -> Result<()> {
        let hash = self.hash(name);
        let bucket = self.bucket_in(changing, parent, hash).await?;
        changing.put_bucket(parent, hash, bucket.with(name, ino, kind).ok_or(FileError::NoSpace)?);
        Ok(())
    }

    /// Takes a name away. The lock of `parent` is held.
    pub(super) async fn take_name(&self, changing: &mut Changing, parent: Ino, name: &Name) -> Result<()> {
        let hash = self.hash(name);
        let bucket = self.bucket_in(changing, parent, hash).await?;
        changing.put_bucket(parent, hash, bucket.without(name));
        Ok(())
    }

    /// Counts entries of a directory, some of them directories, that came or went now. Its lock is held.
    pub(super) async fn resize(
        &self,
        changing: &mut Changing,
        ino: Ino,
        entries: i64,
        directories: i32,
        now: Timestamp,
    ) -> Result<()> {
        let directory = self.inode_in(changing, ino).await?;
        let resized = Inode {
            size: directory.size.saturating_add_signed(entries),
            nlink: directory.nlink.saturating_add_signed(directories),
            mtime: now,
            ctime: now,
            ..(*directory).clone()
        };
        changing.put_inode(ino, resized);
        Ok(())
    }
}
