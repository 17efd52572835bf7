//! Making inodes.

use super::{Request, Step, attr, file, name};
use crate::errno::Failure;
use crate::session::{Answer, Outcome, Session, Taken};
use bytes::Bytes;
use stoa_vfs::{Entry, Error, Kind, Make, Node, PERMISSIONS};
use stoa_wire_fuse::{Create, reply};

pub(super) fn symlink(r: &Request<'_>, new: &[u8], target: &[u8]) -> Result<Step, Failure> {
    let node = Node::Symlink(Bytes::copy_from_slice(target));
    make(r, new, Make { node, mode: 0o777, umask: 0 })
}

pub(super) fn mknod(r: &Request<'_>, mode: u32, rdev: u32, umask: u32, new: &[u8]) -> Result<Step, Failure> {
    let node = match Kind::from_mode(mode) {
        Some(Kind::Regular) => Node::Regular,
        Some(kind @ (Kind::Fifo | Kind::Socket)) => Node::Special { kind, rdev: 0 },
        Some(kind @ (Kind::CharDevice | Kind::BlockDevice)) => Node::Special { kind, rdev },
        Some(Kind::Directory | Kind::Symlink) | None => return Err(Failure::Door(libc::EINVAL)),
    };
    make(r, new, Make { node, mode: mode & PERMISSIONS, umask })
}

pub(super) fn mkdir(r: &Request<'_>, mode: u32, umask: u32, new: &[u8]) -> Result<Step, Failure> {
    make(r, new, Make { node: Node::Directory, mode: mode & PERMISSIONS, umask })
}

fn make(r: &Request<'_>, new: &[u8], make: Make) -> Result<Step, Failure> {
    let (session, caller, parent, name) = (r.session(), r.caller(), r.ino(), name(new)?);
    Request::change(async move { attr::entry(&session, &session.vfs.make(caller, parent, &name, &make).await?) })
}

/// Makes a file and opens it. The kernel asks for this when it knows of no such name. If there is one all the same, then
/// without `O_EXCL` the answer is `ESTALE`: the kernel looks the name up again and opens what it finds, with the check of
/// permissions that it leaves out for a file that was just made.
pub(super) fn create(r: &Request<'_>, create: &Create<'_>) -> Result<Step, Failure> {
    let (session, caller, parent, name) = (r.session(), r.caller(), r.ino(), name(create.name)?);
    let (make, flags) = (regular(create), create.flags);
    Request::change(async move {
        let entry = match session.vfs.make(caller, parent, &name, &make).await {
            Ok(entry) => entry,
            Err(Error::Exists) if flags & libc::O_EXCL.cast_unsigned() == 0 => return Err(Failure::Door(libc::ESTALE)),
            Err(error) => return Err(error.into()),
        };
        opened(&session, &entry, flags).await
    })
}

pub(super) fn tmpfile(r: &Request<'_>, create: &Create<'_>) -> Result<Step, Failure> {
    let (session, caller, parent) = (r.session(), r.caller(), r.ino());
    let (make, flags) = (regular(create), create.flags);
    Request::change(async move {
        let entry = session.vfs.make_unnamed(caller, parent, &make).await?;
        opened(&session, &entry, flags).await
    })
}

fn regular(create: &Create<'_>) -> Make {
    Make { node: Node::Regular, mode: create.mode & PERMISSIONS, umask: create.umask }
}

/// Opens what was just made; there is nothing to truncate.
async fn opened(session: &Session, entry: &Entry, flags: u32) -> Outcome {
    let ino = entry.attr.ino;
    let how = stoa_vfs::OpenFlags {
        read: file::reads(flags),
        write: file::writes(flags),
        uncached: file::uncached(flags),
        ..stoa_vfs::OpenFlags::default()
    };
    match session.vfs.open(ino, how).await {
        Ok(handle) => {
            session.writers.opened(ino, handle, how.write);
            let open = file::open_reply(session, handle, flags);
            let body = reply::create(&attr::entry_to_wire(session, entry), &open);
            Ok(Answer::fixed(body).taking(Taken::EntryAndOpen(ino, handle)))
        }
        Err(error) => {
            session.vfs.forget(ino, 1);
            Err(error.into())
        }
    }
}
