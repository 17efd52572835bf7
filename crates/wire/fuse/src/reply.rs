//! Answers: the header, and bodies of a fixed layout.

use crate::raw::{
    AttrOut, CreateOut, EntryOut, GetattrOut, InitOut, OpenOut, OutHeader, StatfsOut, StatxOut, SxTime, U64Out,
    WriteOut,
};
use crate::{Attr, Entry, InitReply, MAJOR, MINOR_MAX, Open, StatFs, Time};
use std::time::Duration;
use zerocopy::{Immutable, IntoBytes};

#[cfg(test)]
mod tests;

/// The bytes of an answer's header.
pub const HEADER_BYTES: usize = size_of::<OutHeader>();

/// The longest body of a fixed layout.
const BODY_BYTES_MAX: usize = size_of::<StatxOut>();

/// `STATX_BASIC_STATS | STATX_BTIME`.
const STATX_MASK: u32 = 0xfff;

/// The body of an answer, in place.
#[derive(Clone, Copy)]
pub struct Body {
    bytes: [u8; BODY_BYTES_MAX],
    len: usize,
}

impl Body {
    fn of(value: &(impl IntoBytes + Immutable)) -> Self {
        let from = value.as_bytes();
        let mut bytes = [0; BODY_BYTES_MAX];
        // `StatxOut` is the longest, so this is always `Some`; if not, the answer is empty and the kernel refuses it.
        let Some(to) = bytes.get_mut(..from.len()) else { return Self { bytes, len: 0 } };
        to.copy_from_slice(from);
        Self { bytes, len: from.len() }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", self.len)
    }
}

/// The header of the answer to request `unique`, whose body has `body_len` bytes; `errno` is 0 or a positive errno. `None` if the
/// answer would be longer than can be said.
#[must_use]
pub fn header(unique: u64, errno: i32, body_len: usize) -> Option<[u8; HEADER_BYTES]> {
    let len = u32::try_from(body_len.checked_add(HEADER_BYTES)?).ok()?;
    let raw = OutHeader { len, error: errno.checked_neg()?, unique };
    let mut bytes = [0; HEADER_BYTES];
    raw.write_to(&mut bytes).ok()?;
    Some(bytes)
}

/// The answer to INIT.
#[must_use]
pub fn init(reply: &InitReply) -> Body {
    let [flags, flags2] = split(reply.flags);
    Body::of(&InitOut {
        major: MAJOR,
        minor: reply.minor.min(MINOR_MAX),
        max_readahead: reply.readahead_bytes_max,
        flags,
        max_background: reply.background_max,
        congestion_threshold: reply.congestion_threshold,
        max_write: reply.write_bytes_max,
        time_gran: 1,
        max_pages: reply.pages_max,
        map_alignment: 0,
        flags2,
        max_stack_depth: 0,
        request_timeout: 0,
        unused: [0; 11],
    })
}

/// The answer to lookups and to what makes an inode.
#[must_use]
pub fn entry(entry: &Entry) -> Body {
    Body::of(&entry_out(entry))
}

/// The answer to CREATE and TMPFILE.
#[must_use]
pub fn create(entry: &Entry, open: &Open) -> Body {
    Body::of(&CreateOut { entry: entry_out(entry), open: open_out(open) })
}

/// The answer to OPEN and OPENDIR.
#[must_use]
pub fn open(open: &Open) -> Body {
    Body::of(&open_out(open))
}

/// The answer to GETATTR and SETATTR.
#[must_use]
pub fn attr(attr: &Attr, valid: Duration) -> Body {
    Body::of(&GetattrOut {
        attr_valid: valid.as_secs(),
        attr_valid_nsec: valid.subsec_nanos(),
        dummy: 0,
        attr: attr_out(attr),
    })
}

/// The answer to STATX.
#[must_use]
pub fn statx(attr: &Attr, valid: Duration) -> Body {
    let time = |time: Time| SxTime { tv_sec: time.secs, tv_nsec: time.nanos, reserved: 0 };
    Body::of(&StatxOut {
        attr_valid: valid.as_secs(),
        attr_valid_nsec: valid.subsec_nanos(),
        flags: 0,
        spare: [0; 2],
        mask: STATX_MASK,
        blksize: attr.blksize,
        attributes: 0,
        nlink: attr.nlink,
        uid: attr.uid,
        gid: attr.gid,
        // A mode has 16 bits.
        mode: (attr.mode & 0xffff) as u16,
        spare0: 0,
        ino: attr.ino,
        size: attr.size,
        blocks: attr.blocks,
        attributes_mask: 0,
        atime: time(attr.atime),
        btime: time(attr.btime),
        ctime: time(attr.ctime),
        mtime: time(attr.mtime),
        // `new_encode_dev` of Linux: minor bits 0-7, major 8-19, minor 20-31.
        rdev_major: (attr.rdev >> 8) & 0xfff,
        rdev_minor: (attr.rdev & 0xff) | ((attr.rdev >> 12) & 0xf_ff00),
        dev_major: 0,
        dev_minor: 0,
        spare2: [0; 14],
    })
}

/// The answer to WRITE and COPY_FILE_RANGE, and the length that GETXATTR and LISTXATTR answer for size 0.
#[must_use]
pub fn count(bytes: u32) -> Body {
    Body::of(&WriteOut { size: bytes, padding: 0 })
}

/// The answer to LSEEK and COPY_FILE_RANGE_64.
#[must_use]
pub fn offset(value: u64) -> Body {
    Body::of(&U64Out { value })
}

/// The answer to STATFS.
#[must_use]
pub fn statfs(stat: &StatFs) -> Body {
    Body::of(&StatfsOut {
        blocks: stat.blocks,
        bfree: stat.blocks_free,
        bavail: stat.blocks_free,
        files: stat.files,
        ffree: stat.files_free,
        bsize: stat.block_bytes,
        namelen: stat.name_max,
        frsize: stat.block_bytes,
        padding: 0,
        spare: [0; 6],
    })
}

/// The low and the high half.
fn split(flags: u64) -> [u32; 2] {
    [(flags & u64::from(u32::MAX)) as u32, (flags >> 32) as u32]
}

fn open_out(open: &Open) -> OpenOut {
    OpenOut { fh: open.handle, open_flags: open.flags, backing_id: 0 }
}

pub(crate) fn entry_out(entry: &Entry) -> EntryOut {
    EntryOut {
        nodeid: entry.nodeid,
        // Inode numbers are never used again, so there is one generation.
        generation: 0,
        entry_valid: entry.entry_valid.as_secs(),
        attr_valid: entry.attr_valid.as_secs(),
        entry_valid_nsec: entry.entry_valid.subsec_nanos(),
        attr_valid_nsec: entry.attr_valid.subsec_nanos(),
        attr: attr_out(&entry.attr),
    }
}

fn attr_out(attr: &Attr) -> AttrOut {
    AttrOut {
        ino: attr.ino,
        size: attr.size,
        blocks: attr.blocks,
        atime: attr.atime.secs.cast_unsigned(),
        mtime: attr.mtime.secs.cast_unsigned(),
        ctime: attr.ctime.secs.cast_unsigned(),
        atimensec: attr.atime.nanos,
        mtimensec: attr.mtime.nanos,
        ctimensec: attr.ctime.nanos,
        mode: attr.mode,
        nlink: attr.nlink,
        uid: attr.uid,
        gid: attr.gid,
        rdev: attr.rdev,
        blksize: attr.blksize,
        flags: 0,
    }
}
