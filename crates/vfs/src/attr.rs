//! Inode numbers, attributes and times.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest name of a directory entry, in bytes (`NAME_MAX` of Linux).
pub const NAME_MAX: usize = 255;

/// The mode bits that are permissions: `rwx` three times, set-uid, set-gid, sticky.
pub const PERMISSIONS: u32 = 0o7777;

/// The number of an inode, unique in its store and never used again for another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ino(pub u64);

impl Ino {
    /// The root directory of every store.
    pub const ROOT: Self = Self(1);
}

impl fmt::Display for Ino {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What kind of file an inode is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A Unix domain socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
}

impl Kind {
    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
            Self::CharDevice => "character device",
            Self::BlockDevice => "block device",
        }
    }

    /// The `S_IFMT` bits of `st_mode` for this kind.
    #[must_use]
    pub fn mode_bits(self) -> u32 {
        match self {
            Self::Regular => libc::S_IFREG,
            Self::Directory => libc::S_IFDIR,
            Self::Symlink => libc::S_IFLNK,
            Self::Fifo => libc::S_IFIFO,
            Self::Socket => libc::S_IFSOCK,
            Self::CharDevice => libc::S_IFCHR,
            Self::BlockDevice => libc::S_IFBLK,
        }
    }

    /// The kind that the `S_IFMT` bits of `mode` name, if they name one.
    #[must_use]
    pub fn from_mode(mode: u32) -> Option<Self> {
        Some(match mode & libc::S_IFMT {
            libc::S_IFREG => Self::Regular,
            libc::S_IFDIR => Self::Directory,
            libc::S_IFLNK => Self::Symlink,
            libc::S_IFIFO => Self::Fifo,
            libc::S_IFSOCK => Self::Socket,
            libc::S_IFCHR => Self::CharDevice,
            libc::S_IFBLK => Self::BlockDevice,
            _ => return None,
        })
    }
}

/// A point in time, to the nanosecond, since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    /// Seconds; negative before 1970.
    pub secs: i64,
    /// Nanoseconds of the second, 0 to 999,999,999.
    pub nanos: u32,
}

impl Timestamp {
    /// The time now, from the clock that the kernel itself stamps files with.
    ///
    /// `CLOCK_REALTIME_COARSE`: with a finer clock, a time stamped here could be later than one that the kernel stamps afterwards.
    #[must_use]
    pub fn now() -> Self {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid, writable timespec for the length of the call.
        let status = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut time) };
        if status != 0 {
            return SystemTime::now().into();
        }
        Self { secs: time.tv_sec, nanos: u32::try_from(time.tv_nsec).unwrap_or(0) }
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { secs: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanos: since.subsec_nanos() }
    }
}

/// The attributes of an inode, as `stat(2)` shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attr {
    /// Its number.
    pub ino: Ino,
    /// What it is.
    pub kind: Kind,
    /// Permission bits ([`PERMISSIONS`]).
    pub mode: u32,
    /// How many names it has.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device number, for devices.
    pub rdev: u32,
    /// Length in bytes.
    pub size: u64,
    /// Space taken, in units of 512 bytes; holes take none.
    pub blocks: u64,
    /// Last read.
    pub atime: Timestamp,
    /// Last change of the content.
    pub mtime: Timestamp,
    /// Last change of the content or the attributes.
    pub ctime: Timestamp,
    /// Creation.
    pub btime: Timestamp,
}

/// What a lookup found: an inode and its attributes.
///
/// Each `Entry` that a store returns is a reference which the door holds until it gives it back with [`crate::Vfs::forget`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The attributes, with the inode number.
    pub attr: Attr,
}

/// A time to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTime {
    /// The store's own clock.
    Now,
    /// This time.
    At(Timestamp),
}

/// The attributes to change; `None` leaves one as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetAttr {
    /// New permission bits.
    pub mode: Option<u32>,
    /// New owner.
    pub uid: Option<u32>,
    /// New group.
    pub gid: Option<u32>,
    /// New length: what lies beyond is cut, what is added is a hole.
    pub size: Option<u64>,
    /// New access time.
    pub atime: Option<SetTime>,
    /// New modification time.
    pub mtime: Option<SetTime>,
    /// New change time, from a kernel that keeps it itself (write-back cache); otherwise any change stamps it with now.
    pub ctime: Option<Timestamp>,
    /// Clear set-uid, and set-gid where the group may execute, and drop `security.capability`.
    pub clear_privileges: bool,
}

/// What a change of content or owner leaves of the permission bits of a regular file, where [`SetAttr::clear_privileges`] says so: no set-uid, and
/// no set-gid where the group may execute.
#[must_use]
pub fn without_privileges(mode: u32) -> u32 {
    const SET_UID: u32 = 0o4000;
    const SET_GID: u32 = 0o2000;
    const GROUP_EXECUTES: u32 = 0o010;
    mode & !SET_UID & !(if mode & GROUP_EXECUTES == 0 { 0 } else { SET_GID })
}

/// What `statvfs(3)` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatFs {
    /// All the bytes there are room for.
    pub bytes_total: u64,
    /// Bytes free.
    pub bytes_free: u64,
    /// Inodes in use.
    pub inodes_used: u64,
    /// Inodes that can still be made.
    pub inodes_free: u64,
}
