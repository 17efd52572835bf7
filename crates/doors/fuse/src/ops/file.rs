//! Open files.

use super::{Request, Step, privileges};
use crate::errno::Failure;
use crate::session::{Answer, Payload, Session, Taken};
use bytes::Bytes;
use stoa_vfs::{Handle, OpenFlags, WriteFlags};
use stoa_wire_fuse::{Open, flags, reply};

pub(super) fn open(r: &Request<'_>, how: u32, open_flags: u32) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    let truncate = how & libc::O_TRUNC.cast_unsigned() != 0;
    let clear_privileges = open_flags & flags::open::KILL_SUIDGID != 0;
    let wanted =
        OpenFlags { read: reads(how), write: writes(how), truncate, clear_privileges, uncached: uncached(how) };
    let work = async move {
        let opening = session.vfs.open(ino, wanted);
        let handle = privileges::told(&session, ino, truncate && clear_privileges, opening).await?;
        session.writers.opened(ino, handle, wanted.write);
        let body = reply::open(&open_reply(&session, handle, how));
        Ok(Answer::fixed(body).taking(Taken::Open(ino, handle)))
    };
    if truncate { Request::change(work) } else { Request::ask(work) }
}

/// Whether flags of open(2) ask for reading.
pub(super) fn reads(flags: u32) -> bool {
    flags & libc::O_ACCMODE.cast_unsigned() != libc::O_WRONLY.cast_unsigned()
}

/// Whether flags of open(2) ask for writing.
pub(super) fn writes(flags: u32) -> bool {
    flags & libc::O_ACCMODE.cast_unsigned() != libc::O_RDONLY.cast_unsigned()
}

/// Whether flags of open(2) go past the kernel's cache.
pub(super) fn uncached(flags: u32) -> bool {
    flags & libc::O_DIRECT.cast_unsigned() != 0
}

/// What the kernel is told about a file it opened with `flags`.
pub(super) fn open_reply(session: &Session, handle: Handle, flags: u32) -> Open {
    let mut reply = 0;
    if session.policy.content_stays {
        reply |= flags::open_reply::KEEP_CACHE;
    }
    // Nothing was written, so a close has nothing to report. A kernel that holds written pages sends FLUSH in any case.
    if !writes(flags) {
        reply |= flags::open_reply::NOFLUSH;
    }
    Open { handle: handle.0, flags: reply }
}

pub(super) fn read(r: &Request<'_>, handle: u64, offset: u64, size: u32) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    Request::ask(async move {
        let mut pieces = session.vfs.read(ino, Handle(handle), offset, size as usize).await?;
        // More than was asked for is an answer that the kernel refuses.
        let mut room = size as usize;
        for piece in &mut pieces {
            piece.truncate(room);
            room -= piece.len();
        }
        session.stats.read(size as usize - room);
        Ok(Answer { payload: Payload::Pieces(pieces), taken: Taken::Nothing })
    })
}

pub(super) fn write(r: &Request<'_>, handle: u64, offset: u64, how: u32, data: &[u8]) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    // `data` lies in `whole` where that is given, and is a part of it without a copy.
    let data = r.whole.map_or_else(|| Bytes::copy_from_slice(data), |whole| whole.slice_ref(data));
    let count = u32::try_from(data.len()).map_err(|_| Failure::Door(libc::EINVAL))?;
    let how = WriteFlags {
        clear_privileges: how & flags::write::KILL_SUIDGID != 0,
        // A kernel that writes back later keeps the times meanwhile, and sends them by SETATTR.
        cached: how & flags::write::CACHE != 0 && session.policy.exclusive,
    };
    r.changes(ino);
    Request::change(async move {
        let writing = session.vfs.write(ino, Handle(handle), offset, data, how);
        privileges::told(&session, ino, how.clear_privileges, writing).await?;
        session.stats.written(count);
        Ok(Answer::fixed(reply::count(count)))
    })
}

/// A close, which of many descriptors of one open file is not said. That of a process that changed nothing says nothing of what others
/// write: it may be a copy that a program got when it was started, and closes at once.
pub(super) fn flush(r: &Request<'_>, handle: u64) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    if session.writers.changed_by_others(ino, r.header.pid) {
        return Ok(Step::Answer(Ok(Answer::EMPTY)));
    }
    Request::change(async move {
        session.vfs.flush(ino, Handle(handle)).await?;
        Ok(Answer::EMPTY)
    })
}

pub(super) fn release(r: &Request<'_>, handle: u64) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    Request::change(async move {
        session.writers.released(ino, Handle(handle));
        session.vfs.release(ino, Handle(handle)).await;
        Ok(Answer::EMPTY)
    })
}

/// A file or a directory. Who is to end need not wait for a store that is away: nobody is left to learn what came of it, and what is not
/// durable then is asked for, or refused, again when another one syncs.
pub(super) fn fsync(r: &Request<'_>) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    Request::ask(async move {
        session.vfs.fsync(ino).await?;
        Ok(Answer::EMPTY)
    })
}
