//! Inode records.

use super::{Malformed, Reader, Writer};
use ::bytes::Bytes;
use stoa_vfs::{Attr, Ino, Kind, PERMISSIONS, Timestamp};

const VERSION: u8 = 1;

/// An inode as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inode {
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names; for a directory, 2 and one for each directory in it.
    pub nlink: u32,
    /// Device number.
    pub rdev: u32,
    /// Bytes; for a directory, entries.
    pub size: u64,
    /// Bytes that are not in holes.
    pub data_bytes: u64,
    /// For a directory, the one that holds it; otherwise 0.
    pub parent: Ino,
    /// Last read.
    pub atime: Timestamp,
    /// Last change of the content.
    pub mtime: Timestamp,
    /// Last change of anything.
    pub ctime: Timestamp,
    /// Creation.
    pub btime: Timestamp,
    /// Which extended attributes exist at all, so that asking for others costs nothing: [`Inode::XATTR`] and so on; and
    /// [`Inode::LINKABLE`].
    pub flags: u8,
    /// The target of a symbolic link.
    pub target: Bytes,
}

impl Inode {
    /// It has extended attributes, or once had.
    pub const XATTR: u8 = 1;
    /// One of them is `system.posix_acl_access`.
    pub const ACCESS_ACL: u8 = 2;
    /// One of them is `system.posix_acl_default`.
    pub const DEFAULT_ACL: u8 = 4;
    /// One of them is `security.capability`.
    pub const CAPABILITY: u8 = 8;
    /// It was made without a name, and can still get one.
    pub const LINKABLE: u8 = 16;
    /// The flags that tell of extended attributes.
    pub const ATTRIBUTES: u8 = Self::XATTR | Self::ACCESS_ACL | Self::DEFAULT_ACL | Self::CAPABILITY;

    /// What `stat` shows of it.
    #[must_use]
    pub fn attr(&self, ino: Ino) -> Attr {
        Attr {
            ino,
            kind: self.kind,
            mode: self.mode,
            nlink: self.nlink,
            uid: self.uid,
            gid: self.gid,
            rdev: self.rdev,
            size: self.size,
            blocks: self.data_bytes.div_ceil(512),
            atime: self.atime,
            mtime: self.mtime,
            ctime: self.ctime,
            btime: self.btime,
        }
    }

    /// Whether it has no name left.
    #[must_use]
    pub fn is_unlinked(&self) -> bool {
        self.nlink == 0
    }

    /// The record.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Writer::new(VERSION);
        out.u32(self.kind.mode_bits() | self.mode);
        out.u32(self.uid);
        out.u32(self.gid);
        out.u32(self.nlink);
        out.u32(self.rdev);
        out.u64(self.size);
        out.u64(self.data_bytes);
        out.u64(self.parent.0);
        for time in [self.atime, self.mtime, self.ctime, self.btime] {
            out.time(time);
        }
        out.u8(self.flags);
        out.raw(&self.target);
        out.finish()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(value: Bytes) -> Result<Self, Malformed> {
        let mut from = Reader::new(value, VERSION)?;
        let mode = from.u32()?;
        Ok(Self {
            kind: Kind::from_mode(mode).ok_or(Malformed("an inode of an unknown kind"))?,
            mode: mode & PERMISSIONS,
            uid: from.u32()?,
            gid: from.u32()?,
            nlink: from.u32()?,
            rdev: from.u32()?,
            size: from.u64()?,
            data_bytes: from.u64()?,
            parent: Ino(from.u64()?),
            atime: from.time()?,
            mtime: from.time()?,
            ctime: from.time()?,
            btime: from.time()?,
            flags: from.u8()?,
            // Of its own, as the names of entries.
            target: Bytes::copy_from_slice(&from.rest()),
        })
    }
}
