//! Names: finding, moving, adding and removing them.

use super::{Request, Step, attr, name};
use crate::errno::Failure;
use crate::session::Answer;
use stoa_vfs::{Error, Ino, RenameMode};
use stoa_wire_fuse::{Entry, reply};

pub(super) fn lookup(r: &Request<'_>, wanted: &[u8]) -> Result<Step, Failure> {
    let (session, parent) = (r.session(), r.ino());
    // The kernel asks for these two when it decodes a file handle, and at no other time.
    match wanted {
        b"." => return Request::ask(async move { attr::entry(&session, &session.vfs.entry(parent).await?) }),
        b".." => {
            return Request::ask(async move {
                let up = session.vfs.parent(parent).await?;
                attr::entry(&session, &session.vfs.entry(up).await?)
            });
        }
        _ => {}
    }
    let name = name(wanted)?;
    Request::ask(async move {
        match session.vfs.lookup(parent, &name).await {
            Ok(entry) => attr::entry(&session, &entry),
            // Node id 0: there is none, and there will be none until the kernel itself makes it.
            Err(Error::NotFound) if session.policy.exclusive => {
                Ok(Answer::fixed(reply::entry(&Entry { entry_valid: session.ttl(), ..Entry::default() })))
            }
            Err(error) => Err(error.into()),
        }
    })
}

pub(super) fn unlink(r: &Request<'_>, gone: &[u8]) -> Result<Step, Failure> {
    let (session, parent, name) = (r.session(), r.ino(), name(gone)?);
    Request::change(async move {
        session.vfs.unlink(parent, &name).await?;
        Ok(Answer::EMPTY)
    })
}

pub(super) fn rmdir(r: &Request<'_>, gone: &[u8]) -> Result<Step, Failure> {
    let (session, parent, name) = (r.session(), r.ino(), name(gone)?);
    Request::change(async move {
        session.vfs.rmdir(parent, &name).await?;
        Ok(Answer::EMPTY)
    })
}

pub(super) fn link(r: &Request<'_>, ino: Ino, new: &[u8]) -> Result<Step, Failure> {
    let (session, parent, name) = (r.session(), r.ino(), name(new)?);
    Request::change(async move { attr::entry(&session, &session.vfs.link(ino, parent, &name).await?) })
}

pub(super) fn rename(r: &Request<'_>, old: &[u8], to: Ino, new: &[u8], flags: u32) -> Result<Step, Failure> {
    let mode = match flags {
        0 => RenameMode::Replace,
        libc::RENAME_NOREPLACE => RenameMode::NoReplace,
        libc::RENAME_EXCHANGE => RenameMode::Exchange,
        _ => return Err(Failure::Door(libc::EINVAL)),
    };
    let (session, parent, old, new) = (r.session(), r.ino(), name(old)?, name(new)?);
    Request::change(async move {
        session.vfs.rename(parent, &old, to, &new, mode).await?;
        Ok(Answer::EMPTY)
    })
}

pub(super) fn readlink(r: &Request<'_>) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    Request::ask(async move { Ok(Answer::bytes(session.vfs.readlink(ino).await?)) })
}
