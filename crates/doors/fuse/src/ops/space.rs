//! Ranges of files, and the space of the whole.

use super::{Request, Step, privileges};
use crate::errno::Failure;
use crate::session::Answer;
use stoa_vfs::{Allocate, Ino, NAME_MAX, Seek, StatFs};
use stoa_wire_fuse::{StatFs as WireStatFs, reply};

/// The unit in which `df` gets its numbers.
const BLOCK_BYTES: u32 = 4096;

/// The most that the older form of COPY_FILE_RANGE can answer: the kernel's own limit of one call (`MAX_RW_COUNT`).
const COPY_BYTES_MAX: u64 = 0x7fff_f000;

pub(super) fn syncfs(r: &Request<'_>) -> Result<Step, Failure> {
    let session = r.session();
    Request::change(async move {
        session.vfs.sync().await?;
        Ok(Answer::EMPTY)
    })
}

pub(super) fn statfs(r: &Request<'_>) -> Result<Step, Failure> {
    let session = r.session();
    Request::ask(async move { Ok(Answer::fixed(reply::statfs(&to_wire(&session.vfs.statfs().await?)))) })
}

fn to_wire(stat: &StatFs) -> WireStatFs {
    let block = u64::from(BLOCK_BYTES);
    WireStatFs {
        blocks: stat.bytes_total / block,
        blocks_free: stat.bytes_free / block,
        files: stat.inodes_used.saturating_add(stat.inodes_free),
        files_free: stat.inodes_free,
        block_bytes: BLOCK_BYTES,
        // 255 always fits.
        name_max: u32::try_from(NAME_MAX).unwrap_or(u32::MAX),
    }
}

pub(super) fn fallocate(r: &Request<'_>, offset: u64, len: u64, mode: u32) -> Result<Step, Failure> {
    const KEEP: i32 = libc::FALLOC_FL_KEEP_SIZE;
    const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | KEEP;
    const ZERO_KEEP: i32 = libc::FALLOC_FL_ZERO_RANGE | KEEP;
    let how = match mode.cast_signed() {
        0 => Allocate::Reserve { keep_size: false },
        KEEP => Allocate::Reserve { keep_size: true },
        PUNCH => Allocate::PunchHole,
        libc::FALLOC_FL_ZERO_RANGE => Allocate::Zero { keep_size: false },
        ZERO_KEEP => Allocate::Zero { keep_size: true },
        libc::FALLOC_FL_COLLAPSE_RANGE => Allocate::Collapse,
        libc::FALLOC_FL_INSERT_RANGE => Allocate::Insert,
        _ => return Err(Failure::Door(libc::EOPNOTSUPP)),
    };
    let (session, ino) = (r.session(), r.ino());
    let takes_privileges = r.takes_privileges();
    r.changes(ino);
    Request::change(async move {
        if takes_privileges {
            privileges::clear(&session, ino).await?;
        }
        session.vfs.fallocate(ino, offset, len, how).await?;
        Ok(Answer::EMPTY)
    })
}

pub(super) fn lseek(r: &Request<'_>, offset: u64, whence: u32) -> Result<Step, Failure> {
    let what = match whence.cast_signed() {
        libc::SEEK_DATA => Seek::Data,
        libc::SEEK_HOLE => Seek::Hole,
        _ => return Err(Failure::Door(libc::EINVAL)),
    };
    let (session, ino) = (r.session(), r.ino());
    Request::ask(async move {
        // The kernel asks without having written back what it holds: the store would call that a hole.
        session.fetch_written(ino).await;
        Ok(Answer::fixed(reply::offset(session.vfs.seek(ino, offset, what).await?)))
    })
}

pub(super) fn copy(
    r: &Request<'_>,
    offset: u64,
    to: Ino,
    to_offset: u64,
    len: u64,
    wide: bool,
) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    let len = if wide { len } else { len.min(COPY_BYTES_MAX) };
    let takes_privileges = r.takes_privileges();
    r.changes(to);
    Request::change(async move {
        if takes_privileges {
            privileges::clear(&session, to).await?;
        }
        let copied = session.vfs.copy_range(ino, offset, to, to_offset, len).await?;
        // A store that says more than it was asked for would be cut here, and that the kernel refuses.
        let short = u32::try_from(copied).map_err(|_| Failure::Door(libc::EIO));
        Ok(Answer::fixed(if wide { reply::offset(copied) } else { reply::count(short?) }))
    })
}
