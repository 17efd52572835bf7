//! Requests: the header, and what is asked.

use crate::raw::{ForgetOne, InHeader};
use crate::{Error, Result, Time};
use zerocopy::FromBytes;

mod parse;
#[cfg(test)]
mod tests;

/// The bytes of a header.
const HEADER_BYTES: usize = size_of::<InHeader>();

/// What stands before every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What is asked: [`crate::opcode`].
    pub opcode: u32,
    /// The number an answer refers to.
    pub unique: u64,
    /// The inode it is asked of.
    pub nodeid: u64,
    /// The user who asks; all ones where the kernel has no meaning for it.
    pub uid: u32,
    /// The group of who asks.
    pub gid: u32,
    /// The process that asks; 0 for the kernel itself.
    pub pid: u32,
}

impl Header {
    /// Reads the header of the request that `bytes` is, and returns it with the rest.
    ///
    /// # Errors
    /// [`Error::Truncated`] or [`Error::Length`].
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let (raw, rest) = InHeader::read_from_prefix(bytes).map_err(|_| Error::Truncated)?;
        if raw.len as usize != bytes.len() {
            return Err(Error::Length { said: raw.len, have: bytes.len() });
        }
        // Extensions (groups, security contexts) stand at the end; none is asked for at INIT.
        let extension = usize::from(raw.total_extlen) * 8;
        let body_len = rest.len().checked_sub(extension).ok_or(Error::Truncated)?;
        let body = rest.get(..body_len).ok_or(Error::Truncated)?;
        let header = Self {
            opcode: raw.opcode,
            unique: raw.unique,
            nodeid: raw.nodeid,
            uid: raw.uid,
            gid: raw.gid,
            pid: raw.pid,
        };
        Ok((header, body))
    }

    /// How many bytes a header takes.
    #[must_use]
    pub const fn len() -> usize {
        HEADER_BYTES
    }
}

/// What was agreed at INIT and changes how requests look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dialect {
    /// [`crate::flags::init::SETXATTR_EXT`].
    pub setxattr_ext: bool,
}

/// What the kernel says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Init {
    /// The minor version it speaks.
    pub minor: u32,
    /// The longest read-ahead it does, in bytes.
    pub readahead_bytes_max: u32,
    /// What it can do: [`crate::flags::init`].
    pub flags: u64,
}

/// The attributes that a `SETATTR` sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetAttr {
    /// Which of them count: [`crate::flags::setattr`].
    pub valid: u32,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// Last read.
    pub atime: Time,
    /// Last change of content.
    pub mtime: Time,
    /// Last change.
    pub ctime: Time,
}

/// A file to make and open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Create<'a> {
    /// Flags of open(2).
    pub flags: u32,
    /// [`crate::flags::open`].
    pub open_flags: u32,
    /// Permission bits and kind.
    pub mode: u32,
    /// Bits to clear from them.
    pub umask: u32,
    /// Its name; of no meaning for an unnamed file.
    pub name: &'a [u8],
}

/// A lock, asked for or asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock {
    /// The open file.
    pub handle: u64,
    /// Who holds it.
    pub owner: u64,
    /// The first byte.
    pub start: u64,
    /// The last byte.
    pub end: u64,
    /// `F_RDLCK`, `F_WRLCK` or `F_UNLCK`.
    pub kind: u32,
    /// The process.
    pub pid: u32,
    /// It is one of flock(2).
    pub flock: bool,
    /// Wait for it.
    pub wait: bool,
}

/// Inodes to forget, with how many references of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgets<'a>(&'a [u8]);

impl Iterator for Forgets<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let (one, rest) = ForgetOne::read_from_prefix(self.0).ok()?;
        self.0 = rest;
        Some((one.nodeid, one.nlookup))
    }
}

/// What is asked. The inode it is asked of stands in the [`Header`]; names are without their terminator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those that fuse.h documents")]
pub enum Op<'a> {
    /// The first request.
    Init(Init),
    /// The last request of some kinds of mount.
    Destroy,
    /// What does this name stand for?
    Lookup { name: &'a [u8] },
    /// Give back references; no answer.
    Forget { count: u64 },
    /// Give back references of many inodes; no answer.
    BatchForget(Forgets<'a>),
    /// Attributes.
    GetAttr,
    /// Attributes, with the time of creation.
    Statx,
    /// Change attributes.
    SetAttr(SetAttr),
    /// The target of a symbolic link.
    ReadLink,
    /// Make a symbolic link.
    Symlink { name: &'a [u8], target: &'a [u8] },
    /// Make a file, pipe, socket or device.
    MkNod { mode: u32, rdev: u32, umask: u32, name: &'a [u8] },
    /// Make a directory.
    MkDir { mode: u32, umask: u32, name: &'a [u8] },
    /// Remove a name.
    Unlink { name: &'a [u8] },
    /// Remove a directory.
    RmDir { name: &'a [u8] },
    /// Move a name; `flags` of renameat2(2).
    Rename { name: &'a [u8], to: u64, new_name: &'a [u8], flags: u32 },
    /// Name inode `ino` in the header's directory.
    Link { ino: u64, name: &'a [u8] },
    /// Open a file: flags of open(2), and [`crate::flags::open`].
    Open { flags: u32, open_flags: u32 },
    /// Open a directory.
    OpenDir,
    /// Read from a file.
    Read { handle: u64, offset: u64, size: u32 },
    /// Write to a file; `flags` are [`crate::flags::write`].
    Write { handle: u64, offset: u64, flags: u32, data: &'a [u8] },
    /// How full is it?
    StatFs,
    /// The last descriptor of an open file was closed.
    Release { handle: u64 },
    /// The last descriptor of a directory was closed.
    ReleaseDir,
    /// A descriptor of an open file was closed.
    Flush { handle: u64 },
    /// Make a file durable.
    Fsync { handle: u64, data_only: bool },
    /// Make a directory durable.
    FsyncDir,
    /// The value of an extended attribute, or with size 0 its length.
    GetXattr { name: &'a [u8], size: u32 },
    /// The names of the extended attributes, or with size 0 their length.
    ListXattr { size: u32 },
    /// Set an extended attribute: flags of setxattr(2), and [`crate::flags::setxattr`].
    SetXattr { name: &'a [u8], value: &'a [u8], flags: u32, setxattr_flags: u32 },
    /// Remove an extended attribute.
    RemoveXattr { name: &'a [u8] },
    /// Entries of a directory after `offset`, in `size` bytes.
    ReadDir { offset: u64, size: u32 },
    /// Entries with attributes.
    ReadDirPlus { offset: u64, size: u32 },
    /// May the caller do this? Not asked when the kernel checks permissions.
    Access { mask: u32 },
    /// Make and open a file.
    Create(Create<'a>),
    /// Make and open a file without a name.
    TmpFile(Create<'a>),
    /// The caller of request `unique` got a signal.
    Interrupt { unique: u64 },
    /// Where on a block device is this?
    Bmap,
    /// An ioctl(2).
    Ioctl { handle: u64, cmd: u32 },
    /// A poll(2).
    Poll { handle: u64, events: u32 },
    /// Change how a range is stored: `mode` of fallocate(2).
    Fallocate { offset: u64, len: u64, mode: u32 },
    /// Where is data, or a hole? `whence` of lseek(2).
    Lseek { offset: u64, whence: u32 },
    /// Copy a range. `wide`: the count is answered in 64 bits.
    CopyFileRange { offset: u64, to: u64, to_offset: u64, len: u64, wide: bool },
    /// Make everything durable.
    SyncFs,
    /// Is there a lock in the way?
    GetLk(Lock),
    /// Take or drop a lock.
    SetLk(Lock),
    /// Something else.
    Unknown,
}
