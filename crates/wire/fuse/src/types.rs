//! Values that answers are made of.

use std::time::Duration;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Time {
    /// Seconds since 1970; negative before.
    pub secs: i64,
    /// Nanoseconds of the second.
    pub nanos: u32,
}

/// The attributes of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attr {
    /// Its number.
    pub ino: u64,
    /// Length in bytes.
    pub size: u64,
    /// Space taken, in units of 512 bytes.
    pub blocks: u64,
    /// Last read.
    pub atime: Time,
    /// Last change of content.
    pub mtime: Time,
    /// Last change.
    pub ctime: Time,
    /// Creation; only [`crate::reply::statx`] carries it.
    pub btime: Time,
    /// `S_IFMT` and permission bits.
    pub mode: u32,
    /// How many names it has.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device number, as `makedev(3)` packs it into 32 bits.
    pub rdev: u32,
    /// The preferred size of reads and writes, in bytes.
    pub blksize: u32,
}

/// What a name stands for, and how long the kernel may believe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// The inode, which is its node id too; 0 says that the name is known not to exist.
    pub nodeid: u64,
    /// How long the name stays valid.
    pub entry_valid: Duration,
    /// How long the attributes stay valid.
    pub attr_valid: Duration,
    /// The attributes.
    pub attr: Attr,
}

/// An opened file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Open {
    /// The number the kernel will use for it.
    pub handle: u64,
    /// [`crate::flags::open_reply`].
    pub flags: u32,
}

/// How full a file system is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatFs {
    /// Size in units of `block_bytes`.
    pub blocks: u64,
    /// Free blocks.
    pub blocks_free: u64,
    /// Inodes, used and free.
    pub files: u64,
    /// Inodes that can still be made.
    pub files_free: u64,
    /// The unit of the block counts, and the preferred size of IO.
    pub block_bytes: u32,
    /// The longest name, in bytes.
    pub name_max: u32,
}

/// What the server agrees to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InitReply {
    /// The kernel's minor version, which is answered with the lesser of it and [`crate::MINOR_MAX`].
    pub minor: u32,
    /// [`crate::flags::init`], a subset of what the kernel offered.
    pub flags: u64,
    /// Longest read-ahead, in bytes.
    pub readahead_bytes_max: u32,
    /// Longest write, in bytes.
    pub write_bytes_max: u32,
    /// Longest request, in pages.
    pub pages_max: u16,
    /// Requests without a waiting caller that may be under way at once.
    pub background_max: u16,
    /// From how many on the kernel calls the device congested.
    pub congestion_threshold: u16,
}
