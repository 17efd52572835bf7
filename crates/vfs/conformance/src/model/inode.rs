//! One inode.

use super::content::Content;
use super::directory::Directory;
use bytes::Bytes;
use std::collections::BTreeMap;
use stoa_vfs::{Attr, Error, Ino, Kind, Result, Timestamp};

/// What an inode is, with what only such inodes have.
pub(super) enum Body {
    Regular(Content),
    Directory(Directory),
    Symlink(Bytes),
    Special { kind: Kind, rdev: u32 },
}

pub(super) struct Inode {
    pub(super) body: Body,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) nlink: u32,
    pub(super) atime: Timestamp,
    pub(super) mtime: Timestamp,
    pub(super) ctime: Timestamp,
    pub(super) btime: Timestamp,
    /// ACLs are here too, under their names and in their binary form.
    pub(super) xattrs: BTreeMap<Bytes, Bytes>,
    /// Entries handed out and not given back.
    pub(super) references: u64,
    /// Open handles.
    pub(super) handles: u64,
    /// Made without a name, and not named since: only then can an inode without a name get one.
    pub(super) linkable: bool,
}

impl Inode {
    /// A new inode with one name (a directory: with its own `.` too) and no references.
    pub(super) fn new(body: Body, mode: u32, uid: u32, gid: u32) -> Self {
        let now = Timestamp::now();
        let nlink = if matches!(body, Body::Directory(_)) { 2 } else { 1 };
        Self {
            body,
            mode,
            uid,
            gid,
            nlink,
            atime: now,
            mtime: now,
            ctime: now,
            btime: now,
            xattrs: BTreeMap::new(),
            references: 0,
            handles: 0,
            linkable: false,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match &self.body {
            Body::Regular(_) => Kind::Regular,
            Body::Directory(_) => Kind::Directory,
            Body::Symlink(_) => Kind::Symlink,
            Body::Special { kind, .. } => *kind,
        }
    }

    pub(super) fn attr(&self, ino: Ino) -> Attr {
        let (size, blocks, rdev) = match &self.body {
            Body::Regular(content) => (content.size(), content.blocks(), 0),
            Body::Directory(directory) => (directory.len(), 0, 0),
            Body::Symlink(target) => (target.len() as u64, 0, 0),
            Body::Special { rdev, .. } => (0, 0, *rdev),
        };
        Attr {
            ino,
            kind: self.kind(),
            mode: self.mode,
            nlink: self.nlink,
            uid: self.uid,
            gid: self.gid,
            rdev,
            size,
            blocks,
            atime: self.atime,
            mtime: self.mtime,
            ctime: self.ctime,
            btime: self.btime,
        }
    }

    pub(super) fn directory(&self) -> Result<&Directory> {
        match &self.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(Error::NotDirectory),
        }
    }

    pub(super) fn directory_mut(&mut self) -> Result<&mut Directory> {
        match &mut self.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(Error::NotDirectory),
        }
    }

    pub(super) fn content(&self) -> Result<&Content> {
        match &self.body {
            Body::Regular(content) => Ok(content),
            Body::Directory(_) => Err(Error::IsDirectory),
            _ => Err(Error::Invalid("not a regular file")),
        }
    }

    pub(super) fn content_mut(&mut self) -> Result<&mut Content> {
        match &mut self.body {
            Body::Regular(content) => Ok(content),
            Body::Directory(_) => Err(Error::IsDirectory),
            _ => Err(Error::Invalid("not a regular file")),
        }
    }

    /// The attributes changed.
    pub(super) fn touch_ctime(&mut self) {
        self.ctime = Timestamp::now();
    }

    /// The content changed: that changes ctime too.
    pub(super) fn touch_mtime(&mut self) {
        self.ctime = Timestamp::now();
        self.mtime = self.ctime;
    }

    /// The content was read. As Linux mounts do by default (`relatime`), only the first read after a change counts.
    pub(super) fn touch_atime(&mut self) {
        if self.atime <= self.mtime || self.atime <= self.ctime {
            self.atime = Timestamp::now();
        }
    }

    /// What a write by somebody without privileges takes away; says whether it took anything.
    pub(super) fn clear_privileges(&mut self) -> bool {
        if self.kind() != Kind::Regular {
            return false;
        }
        let mut mode = self.mode & !libc::S_ISUID;
        if mode & libc::S_IXGRP != 0 {
            mode &= !libc::S_ISGID;
        }
        let dropped = self.xattrs.remove(b"security.capability".as_slice()).is_some();
        let changed = dropped || mode != self.mode;
        self.mode = mode;
        changed
    }
}
