//! Attributes.

use super::{Request, Step};
use crate::errno::Failure;
use crate::session::{Answer, Outcome, Session, Taken};
use stoa_vfs::{Attr, Entry, Error, PERMISSIONS, SetAttr, SetTime, Timestamp};
use stoa_wire_fuse as wire;
use stoa_wire_fuse::flags::setattr as valid;
use stoa_wire_fuse::reply;

#[cfg(test)]
mod tests;

/// Nanoseconds in a second.
const NANOS: u32 = 1_000_000_000;

/// What `stat` shows as the preferred size of IO.
const BLOCK_BYTES: u32 = 4096;

pub(super) fn getattr(r: &Request<'_>) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    Request::ask(async move {
        let attr = session.vfs.getattr(ino).await?;
        Ok(Answer::fixed(reply::attr(&to_wire(&attr), session.ttl())))
    })
}

pub(super) fn statx(r: &Request<'_>) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    Request::ask(async move {
        let attr = session.vfs.getattr(ino).await?;
        Ok(Answer::fixed(reply::statx(&to_wire(&attr), session.ttl())))
    })
}

pub(super) fn setattr(r: &Request<'_>, set: &wire::SetAttr) -> Result<Step, Failure> {
    let (session, ino, set) = (r.session(), r.ino(), from_wire(set)?);
    if set.size.is_some() {
        r.changes(ino);
    }
    Request::change(async move {
        let attr = session.vfs.setattr(ino, &set).await?;
        Ok(Answer::fixed(reply::attr(&to_wire(&attr), session.ttl())))
    })
}

/// Answers with an entry that a store returned.
pub(super) fn entry(session: &Session, entry: &Entry) -> Outcome {
    Ok(Answer::fixed(reply::entry(&entry_to_wire(session, entry))).taking(Taken::Entry(entry.attr.ino)))
}

/// The entry as the kernel is told of it.
pub(super) fn entry_to_wire(session: &Session, entry: &Entry) -> wire::Entry {
    let ttl = session.ttl();
    wire::Entry { nodeid: entry.attr.ino.0, entry_valid: ttl, attr_valid: ttl, attr: to_wire(&entry.attr) }
}

fn to_wire(attr: &Attr) -> wire::Attr {
    let time = |time: Timestamp| wire::Time { secs: time.secs, nanos: time.nanos };
    wire::Attr {
        ino: attr.ino.0,
        size: attr.size,
        blocks: attr.blocks,
        atime: time(attr.atime),
        mtime: time(attr.mtime),
        ctime: time(attr.ctime),
        btime: time(attr.btime),
        mode: attr.kind.mode_bits() | (attr.mode & PERMISSIONS),
        nlink: attr.nlink,
        uid: attr.uid,
        gid: attr.gid,
        rdev: attr.rdev,
        blksize: BLOCK_BYTES,
    }
}

/// What a SETATTR asks for. Whether a change of owner clears set-uid is for the kernel to say (`KILL_SUIDGID`): it knows whether
/// the inode is a directory, which keeps its bits.
///
/// # Errors
/// [`Error::Invalid`] for a time that is none. No kernel asks for one.
fn from_wire(set: &wire::SetAttr) -> Result<SetAttr, Error> {
    let has = |bit| set.valid & bit != 0;
    let at = |time: wire::Time| match time.nanos {
        ..NANOS => Ok(Timestamp { secs: time.secs, nanos: time.nanos }),
        _ => Err(Error::Invalid("a time has a billion nanoseconds or more")),
    };
    let given = |bit, value| has(bit).then(|| at(value)).transpose();
    let time = |now, bit, value| {
        if has(now) { Ok(Some(SetTime::Now)) } else { Ok(given(bit, value)?.map(SetTime::At)) }
    };
    Ok(SetAttr {
        mode: has(valid::MODE).then_some(set.mode & PERMISSIONS),
        uid: has(valid::UID).then_some(set.uid),
        gid: has(valid::GID).then_some(set.gid),
        size: has(valid::SIZE).then_some(set.size),
        atime: time(valid::ATIME_NOW, valid::ATIME, set.atime)?,
        mtime: time(valid::MTIME_NOW, valid::MTIME, set.mtime)?,
        ctime: given(valid::CTIME, set.ctime)?,
        clear_privileges: has(valid::KILL_SUIDGID),
    })
}
