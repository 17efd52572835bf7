//! Extended attributes.

use super::{Request, Step};
use crate::errno::Failure;
use crate::session::{Answer, Outcome};
use bytes::Bytes;
use stoa_vfs::XattrMode;
use stoa_wire_fuse::{flags, reply};

/// The namespace that only a process with `CAP_SYS_ADMIN` sees (xattr(7)).
const TRUSTED: &[u8] = b"trusted.";

/// The bit of `CAP_SYS_ADMIN`.
const SYS_ADMIN: u64 = 1 << 21;

pub(super) fn get(r: &Request<'_>, name: &[u8], size: u32) -> Result<Step, Failure> {
    let (session, ino, name) = (r.session(), r.ino(), name.to_vec());
    Request::ask(async move { sized(session.vfs.getxattr(ino, &name).await?, size) })
}

pub(super) fn list(r: &Request<'_>, size: u32) -> Result<Step, Failure> {
    let (session, ino) = (r.session(), r.ino());
    let pid = r.header.pid;
    Request::ask(async move {
        let mut names = Vec::new();
        for name in session.vfs.listxattr(ino).await? {
            if !name.starts_with(TRUSTED) || is_admin(pid) {
                names.extend_from_slice(&name);
                names.push(0);
            }
        }
        sized(names.into(), size)
    })
}

/// Whether process `pid` has `CAP_SYS_ADMIN`. Its user would not tell, and a mount that may be mapped to other users is not even
/// told that. A process that can't be seen from here (another namespace) has it not.
fn is_admin(pid: u32) -> bool {
    stoa_process::capabilities(pid).is_some_and(|set| set & SYS_ADMIN != 0)
}

/// Answers with `value` if it fits in `size` bytes; with its length if that is what was asked for.
fn sized(value: Bytes, size: u32) -> Outcome {
    let len = u32::try_from(value.len()).map_err(|_| Failure::Door(libc::E2BIG))?;
    match size {
        0 => Ok(Answer::fixed(reply::count(len))),
        size if len > size => Err(Failure::Door(libc::ERANGE)),
        _ => Ok(Answer::bytes(value)),
    }
}

pub(super) fn set(r: &Request<'_>, name: &[u8], value: &[u8], how: u32, ext: u32) -> Result<Step, Failure> {
    let mode = match how.cast_signed() {
        0 => XattrMode::Set,
        libc::XATTR_CREATE => XattrMode::Create,
        libc::XATTR_REPLACE => XattrMode::Replace,
        _ => return Err(Failure::Door(libc::EINVAL)),
    };
    let clear_setgid = ext & flags::setxattr::ACL_KILL_SGID != 0;
    let (session, ino) = (r.session(), r.ino());
    let (name, value) = (name.to_vec(), Bytes::copy_from_slice(value));
    Request::change(async move {
        session.vfs.setxattr(ino, &name, value, mode, clear_setgid).await?;
        Ok(Answer::EMPTY)
    })
}

pub(super) fn remove(r: &Request<'_>, name: &[u8]) -> Result<Step, Failure> {
    let (session, ino, name) = (r.session(), r.ino(), name.to_vec());
    Request::change(async move {
        session.vfs.removexattr(ino, &name).await?;
        Ok(Answer::EMPTY)
    })
}
