//! Bits of the protocol, a module for each field that has them.

/// What can be agreed at INIT; the upper half travels in `flags2`.
pub mod init {
    /// Several reads of one file at a time.
    pub const ASYNC_READ: u64 = 1 << 0;
    /// The server truncates on an open with `O_TRUNC`.
    pub const ATOMIC_O_TRUNC: u64 = 1 << 3;
    /// Lookups of `.` and `..` are answered, so file handles can be decoded.
    pub const EXPORT_SUPPORT: u64 = 1 << 4;
    /// Writes of more than a page.
    pub const BIG_WRITES: u64 = 1 << 5;
    /// The server applies the umask.
    pub const DONT_MASK: u64 = 1 << 6;
    /// Cached pages go when size or mtime turn out changed.
    pub const AUTO_INVAL_DATA: u64 = 1 << 12;
    /// `READDIRPLUS` is understood.
    pub const DO_READDIRPLUS: u64 = 1 << 13;
    /// The kernel decides when to use it.
    pub const READDIRPLUS_AUTO: u64 = 1 << 14;
    /// Direct IO is submitted in parallel.
    pub const ASYNC_DIO: u64 = 1 << 15;
    /// The kernel keeps written pages, sizes and times.
    pub const WRITEBACK_CACHE: u64 = 1 << 16;
    /// Lookups and listings of one directory at a time.
    pub const PARALLEL_DIROPS: u64 = 1 << 18;
    /// POSIX ACLs are kept in extended attributes, and the kernel checks them.
    pub const POSIX_ACL: u64 = 1 << 20;
    /// Reading the device after an abort says so.
    pub const ABORT_ERROR: u64 = 1 << 21;
    /// `pages_max` counts.
    pub const MAX_PAGES: u64 = 1 << 22;
    /// Targets of symbolic links are cached.
    pub const CACHE_SYMLINKS: u64 = 1 << 23;
    /// An `OPENDIR` answered with `ENOSYS` is never sent again.
    pub const NO_OPENDIR_SUPPORT: u64 = 1 << 24;
    /// Cached pages go only when the server says so.
    pub const EXPLICIT_INVAL_DATA: u64 = 1 << 25;
    /// The server clears set-uid, set-gid and capabilities, when told to.
    pub const HANDLE_KILLPRIV_V2: u64 = 1 << 28;
    /// `SETXATTR` has flags of its own.
    pub const SETXATTR_EXT: u64 = 1 << 29;
    /// `flags2` counts.
    pub const INIT_EXT: u64 = 1 << 30;
    /// The mount may be mapped to other user ids.
    pub const ALLOW_IDMAP: u64 = 1 << 40;
}

/// What the answer to an open says about the file.
pub mod open_reply {
    /// Pages cached before stay.
    pub const KEEP_CACHE: u32 = 1 << 1;
    /// The listing of this directory may be cached.
    pub const CACHE_DIR: u32 = 1 << 3;
    /// A close needs no `FLUSH`.
    pub const NOFLUSH: u32 = 1 << 5;
}

/// Which attributes a `SETATTR` changes.
pub mod setattr {
    /// The mode.
    pub const MODE: u32 = 1 << 0;
    /// The owner.
    pub const UID: u32 = 1 << 1;
    /// The group.
    pub const GID: u32 = 1 << 2;
    /// The size.
    pub const SIZE: u32 = 1 << 3;
    /// The time of the last read.
    pub const ATIME: u32 = 1 << 4;
    /// The time of the last change of content.
    pub const MTIME: u32 = 1 << 5;
    /// The last read was now.
    pub const ATIME_NOW: u32 = 1 << 7;
    /// The last change of content was now.
    pub const MTIME_NOW: u32 = 1 << 8;
    /// The time of the last change.
    pub const CTIME: u32 = 1 << 10;
    /// Clear set-uid, set-gid and capabilities.
    pub const KILL_SUIDGID: u32 = 1 << 11;
}

/// Flags of a `WRITE`.
pub mod write {
    /// It comes from the page cache, not from a caller.
    pub const CACHE: u32 = 1 << 0;
    /// Clear set-uid, set-gid and capabilities.
    pub const KILL_SUIDGID: u32 = 1 << 2;
}

/// Flags of `OPEN` and `CREATE` that are the protocol's own.
pub mod open {
    /// With `O_TRUNC`: clear set-uid, set-gid and capabilities.
    pub const KILL_SUIDGID: u32 = 1 << 0;
}

/// Flags of a `SETXATTR` that are the protocol's own.
pub mod setxattr {
    /// Clear set-gid when the access ACL is set.
    pub const ACL_KILL_SGID: u32 = 1 << 0;
}
