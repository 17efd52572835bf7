//! What goes to the kernel after the header.

use zerocopy::{Immutable, IntoBytes, KnownLayout};

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct AttrOut {
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) atime: u64,
    pub(crate) mtime: u64,
    pub(crate) ctime: u64,
    pub(crate) atimensec: u32,
    pub(crate) mtimensec: u32,
    pub(crate) ctimensec: u32,
    pub(crate) mode: u32,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) rdev: u32,
    pub(crate) blksize: u32,
    pub(crate) flags: u32,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct EntryOut {
    pub(crate) nodeid: u64,
    pub(crate) generation: u64,
    pub(crate) entry_valid: u64,
    pub(crate) attr_valid: u64,
    pub(crate) entry_valid_nsec: u32,
    pub(crate) attr_valid_nsec: u32,
    pub(crate) attr: AttrOut,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct GetattrOut {
    pub(crate) attr_valid: u64,
    pub(crate) attr_valid_nsec: u32,
    pub(crate) dummy: u32,
    pub(crate) attr: AttrOut,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct OpenOut {
    pub(crate) fh: u64,
    pub(crate) open_flags: u32,
    pub(crate) backing_id: i32,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct CreateOut {
    pub(crate) entry: EntryOut,
    pub(crate) open: OpenOut,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct WriteOut {
    pub(crate) size: u32,
    pub(crate) padding: u32,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct U64Out {
    pub(crate) value: u64,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct StatfsOut {
    pub(crate) blocks: u64,
    pub(crate) bfree: u64,
    pub(crate) bavail: u64,
    pub(crate) files: u64,
    pub(crate) ffree: u64,
    pub(crate) bsize: u32,
    pub(crate) namelen: u32,
    pub(crate) frsize: u32,
    pub(crate) padding: u32,
    pub(crate) spare: [u32; 6],
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct InitOut {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) max_readahead: u32,
    pub(crate) flags: u32,
    pub(crate) max_background: u16,
    pub(crate) congestion_threshold: u16,
    pub(crate) max_write: u32,
    pub(crate) time_gran: u32,
    pub(crate) max_pages: u16,
    pub(crate) map_alignment: u16,
    pub(crate) flags2: u32,
    pub(crate) max_stack_depth: u32,
    pub(crate) request_timeout: u16,
    pub(crate) unused: [u16; 11],
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct SxTime {
    pub(crate) tv_sec: i64,
    pub(crate) tv_nsec: u32,
    pub(crate) reserved: i32,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct StatxOut {
    pub(crate) attr_valid: u64,
    pub(crate) attr_valid_nsec: u32,
    pub(crate) flags: u32,
    pub(crate) spare: [u64; 2],
    pub(crate) mask: u32,
    pub(crate) blksize: u32,
    pub(crate) attributes: u64,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mode: u16,
    pub(crate) spare0: u16,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) attributes_mask: u64,
    pub(crate) atime: SxTime,
    pub(crate) btime: SxTime,
    pub(crate) ctime: SxTime,
    pub(crate) mtime: SxTime,
    pub(crate) rdev_major: u32,
    pub(crate) rdev_minor: u32,
    pub(crate) dev_major: u32,
    pub(crate) dev_minor: u32,
    pub(crate) spare2: [u64; 14],
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct Dirent {
    pub(crate) ino: u64,
    pub(crate) off: u64,
    pub(crate) namelen: u32,
    pub(crate) kind: u32,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct InvalInodeOut {
    pub(crate) ino: u64,
    pub(crate) off: i64,
    pub(crate) len: i64,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct InvalEntryOut {
    pub(crate) parent: u64,
    pub(crate) namelen: u32,
    pub(crate) flags: u32,
}

#[derive(Debug, Clone, Copy, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub(crate) struct DeleteOut {
    pub(crate) parent: u64,
    pub(crate) child: u64,
    pub(crate) namelen: u32,
    pub(crate) padding: u32,
}

// The kernel refuses answers of any other length.
const _: () = {
    assert!(size_of::<AttrOut>() == 88);
    assert!(size_of::<EntryOut>() == 128);
    assert!(size_of::<GetattrOut>() == 104);
    assert!(size_of::<OpenOut>() == 16);
    assert!(size_of::<StatfsOut>() == 80);
    assert!(size_of::<InitOut>() == 64);
    assert!(size_of::<StatxOut>() == 288);
    assert!(size_of::<Dirent>() == 24);
};
