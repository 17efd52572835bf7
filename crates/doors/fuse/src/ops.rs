//! Every request as a call of the store.

use crate::errno::Failure;
use crate::session::{Outcome, Session};
use bytes::Bytes;
use std::pin::Pin;
use std::sync::Arc;
use stoa_vfs::{Caller, Ino, Name};
use stoa_wire_fuse::{Header, Op};

mod attr;
mod create;
mod dir;
mod file;
mod names;
mod privileges;
mod space;
mod xattr;

/// A request, and the session it came in.
pub(crate) struct Request<'r> {
    pub(crate) session: &'r Arc<Session>,
    pub(crate) header: &'r Header,
    /// The bytes of the request, where they may be kept.
    pub(crate) whole: Option<&'r Bytes>,
}

/// What to do about a request.
#[allow(
    clippy::large_enum_variant,
    reason = "it lives for a moment on a stack; a box would cost an allocation a request"
)]
pub(crate) enum Step {
    /// Answer it.
    Answer(Outcome),
    /// Work for it.
    Work(Job),
}

/// Work for a request.
pub(crate) struct Job {
    pub(crate) work: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    pub(crate) patience: Patience,
}

/// What a signal to the caller does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Nothing: the request changes something, and who asked has to learn whether it did.
    ToTheEnd,
    /// The caller is answered `EINTR`.
    Interruptible,
}

impl Request<'_> {
    fn ino(&self) -> Ino {
        Ino(self.header.nodeid)
    }

    /// Notes that who asks changes what is in `ino`.
    fn changes(&self, ino: Ino) {
        self.session.writers.changed(ino, self.header.pid);
    }

    fn caller(&self) -> Caller {
        Caller { uid: self.header.uid, gid: self.header.gid }
    }

    fn session(&self) -> Arc<Session> {
        Arc::clone(self.session)
    }

    /// A request that only asks.
    fn ask(work: impl Future<Output = Outcome> + Send + 'static) -> Result<Step, Failure> {
        Ok(Step::Work(Job { work: Box::pin(work), patience: Patience::Interruptible }))
    }

    /// A request that changes something.
    fn change(work: impl Future<Output = Outcome> + Send + 'static) -> Result<Step, Failure> {
        Ok(Step::Work(Job { work: Box::pin(work), patience: Patience::ToTheEnd }))
    }
}

/// A name that outlives its request.
fn name(bytes: &[u8]) -> Result<Name, Failure> {
    Ok(Name::new(Bytes::copy_from_slice(bytes))?)
}

/// Begins to serve `op`.
pub(crate) fn start(request: Request<'_>, op: Op<'_>) -> Step {
    begin(&request, op).unwrap_or_else(|failure| Step::Answer(Err(failure)))
}

fn begin(r: &Request<'_>, op: Op<'_>) -> Result<Step, Failure> {
    match op {
        Op::Lookup { name } => names::lookup(r, name),
        Op::Unlink { name } => names::unlink(r, name),
        Op::RmDir { name } => names::rmdir(r, name),
        Op::Rename { name, to, new_name, flags } => names::rename(r, name, Ino(to), new_name, flags),
        Op::Link { ino, name } => names::link(r, Ino(ino), name),
        Op::ReadLink => names::readlink(r),
        Op::Symlink { name, target } => create::symlink(r, name, target),
        Op::MkNod { mode, rdev, umask, name } => create::mknod(r, mode, rdev, umask, name),
        Op::MkDir { mode, umask, name } => create::mkdir(r, mode, umask, name),
        Op::Create(create) => create::create(r, &create),
        Op::TmpFile(create) => create::tmpfile(r, &create),
        Op::GetAttr => attr::getattr(r),
        Op::Statx => attr::statx(r),
        Op::SetAttr(set) => attr::setattr(r, &set),
        Op::Open { flags, open_flags } => file::open(r, flags, open_flags),
        Op::Read { handle, offset, size } => file::read(r, handle, offset, size),
        Op::Write { handle, offset, flags, data } => file::write(r, handle, offset, flags, data),
        Op::Flush { handle } => file::flush(r, handle),
        Op::Release { handle } => file::release(r, handle),
        Op::Fsync { .. } | Op::FsyncDir => file::fsync(r),
        Op::SyncFs => space::syncfs(r),
        Op::StatFs => space::statfs(r),
        Op::Fallocate { offset, len, mode } => space::fallocate(r, offset, len, mode),
        Op::Lseek { offset, whence } => space::lseek(r, offset, whence),
        Op::CopyFileRange { offset, to, to_offset, len, wide } => space::copy(r, offset, Ino(to), to_offset, len, wide),
        Op::OpenDir => dir::open(r),
        Op::ReleaseDir => dir::release(),
        Op::ReadDir { offset, size } => dir::read(r, offset, size, false),
        Op::ReadDirPlus { offset, size } => dir::read(r, offset, size, true),
        Op::GetXattr { name, size } => xattr::get(r, name, size),
        Op::ListXattr { size } => xattr::list(r, size),
        Op::SetXattr { name, value, flags, setxattr_flags } => xattr::set(r, name, value, flags, setxattr_flags),
        Op::RemoveXattr { name } => xattr::remove(r, name),
        Op::Destroy => Ok(Step::Answer(Ok(crate::session::Answer::EMPTY))),
        Op::Ioctl { .. } => Err(Failure::Door(libc::ENOTTY)),
        // `ENOSYS` is remembered: the kernel checks permissions, polls and locks by itself from then on.
        Op::Access { .. } | Op::Poll { .. } | Op::GetLk(_) | Op::SetLk(_) | Op::Bmap | Op::Unknown => {
            Err(Failure::UNIMPLEMENTED)
        }
        // INIT comes once, before there is a session; the others have no answer and were dealt with.
        Op::Init(_) | Op::Forget { .. } | Op::BatchForget(_) | Op::Interrupt { .. } => Err(Failure::Door(libc::EIO)),
    }
}
