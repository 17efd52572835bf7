//! A file that is not complete, under a name of its own.
//!
//! The name is always the same, so that a later run finds what an earlier one left. Of two runs at once, the one that has locked the file
//! is at work on it, and the other leaves it alone: otherwise one would put in place what the other is in the middle of writing.

use super::Dir;
use crate::attributes::Carried;
use crate::import::Record;
use crate::{Error, Result};
use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::FileExt;
use stoa_vfs::Name;

/// It is removed when it is dropped, unless it was put in its place.
#[derive(Debug)]
pub(crate) struct Draft {
    dir: Dir,
    temporary: String,
    /// Locked, as long as it is open.
    file: Option<File>,
    placed: bool,
}

impl Draft {
    /// An empty file that will have `mode`: nobody may read it meanwhile who may not then.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run is at work on it.
    pub(crate) fn file(dir: Dir, temporary: String, mode: Option<u32>) -> Result<Self> {
        clear(&dir, &temporary)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(0o666 & mode.unwrap_or(0o666));
        let file = match rustix::fs::openat(&dir, temporary.as_str(), flags, mode) {
            Err(Errno::EXIST) => return Err(taken()),
            file => File::from(file?),
        };
        lock(&dir, &temporary, &file)?;
        Ok(Self { dir, temporary, file: Some(file), placed: false })
    }

    /// A symbolic link. It can't be locked, but it is never half-written: it has a name that no file has.
    ///
    /// # Errors
    /// As [`Draft::file`].
    pub(crate) fn link(dir: Dir, temporary: String, target: &[u8]) -> Result<Self> {
        clear(&dir, &temporary)?;
        let temporary = link_of(&temporary);
        rustix::fs::symlinkat(target, &dir, temporary.as_str())?;
        Ok(Self { dir, temporary, file: None, placed: false })
    }

    /// Writes bytes at their place.
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        match &self.file {
            Some(file) => Ok(file.write_all_at(bytes, offset)?),
            None => Err(Error::Refused("a link has no content".to_owned())),
        }
    }

    /// Gives it its attributes, and `record`, by which a later run knows it. Returns how many attributes could not be kept.
    pub(crate) fn dress(&self, carried: &Carried, record: Option<&Record>) -> Result<u64> {
        match &self.file {
            Some(file) => {
                let left_out = carried.give(file)?;
                if let Some(record) = record {
                    record.keep(file)?;
                }
                Ok(left_out)
            }
            None => carried.give_link(&self.dir, self.temporary.as_bytes()),
        }
    }

    /// Whether it can be opened to make it durable when it has its place.
    pub(crate) fn opens_again(&self) -> bool {
        rustix::fs::accessat(&self.dir, self.temporary.as_str(), Access::READ_OK, AtFlags::EACCESS).is_ok()
    }

    /// Makes its content durable.
    pub(crate) fn sync(&self) -> Result<()> {
        match &self.file {
            Some(file) => Ok(super::fsync(file)?),
            // A link: with the names of its directory.
            None => Ok(()),
        }
    }

    /// Puts it in its place, where `seen` is what was there.
    pub(crate) fn place(mut self, name: &Name, seen: Option<&Stat>) -> Result<()> {
        if let Some(file) = &mut self.file {
            // A file system may say only now that a write failed. The other descriptor keeps the lock.
            let locked = file.try_clone()?;
            close(std::mem::replace(file, locked))?;
        }
        if !self.is_there()? {
            return Err(taken());
        }
        let (from, to) = (self.temporary.as_str(), name.as_bytes());
        match seen {
            None => match rustix::fs::renameat_with(&self.dir, from, &self.dir, to, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if super::look(&self.dir, name)?.is_none() => {
                    rustix::fs::renameat(&self.dir, from, &self.dir, to)?;
                }
                renamed => renamed?,
            },
            Some(seen) => {
                if super::look(&self.dir, name)?.is_none_or(|now| !is_same(seen, &now)) {
                    return Err(Error::Refused("it was changed while it was being replaced".to_owned()));
                }
                rustix::fs::renameat(&self.dir, from, &self.dir, to)?;
            }
        }
        self.placed = true;
        Ok(())
    }

    /// Whether it still is what is under its name: where files can't be locked, another run may have removed it.
    fn is_there(&self) -> Result<bool> {
        self.file.as_ref().map_or(Ok(true), |file| is_at(&self.dir, &self.temporary, file))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.placed {
            return;
        }
        let removed = self.is_there().and_then(|there| if there { remove(&self.dir, &self.temporary) } else { Ok(()) });
        if let Err(error) = removed {
            tracing::warn!(%error, name = self.temporary, "a file that is not complete can't be removed");
        }
    }
}

/// What a link is called that will have the place of a file with this temporary name.
fn link_of(temporary: &str) -> String {
    format!("{temporary}.link")
}

/// Removes what an earlier run left under a temporary name.
fn clear(dir: &Dir, temporary: &str) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match rustix::fs::openat(dir, temporary, flags, Mode::empty()) {
        Ok(left) => {
            let left = File::from(left);
            lock(dir, temporary, &left)?;
            remove(dir, temporary)?;
        }
        Err(Errno::NOENT) => {}
        // A link, or one that was complete, as it had got its mode already.
        Err(Errno::LOOP | Errno::ACCESS) => remove(dir, temporary)?,
        Err(errno) => return Err(errno.into()),
    }
    remove(dir, &link_of(temporary))
}

/// Locks what is under a temporary name and open as `file`.
fn lock(dir: &Dir, temporary: &str, file: &File) -> Result<()> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        // There are file systems without locks, and those that want a file to be open for writing.
        Ok(()) | Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK | Errno::INVAL | Errno::BADF) => {}
        Err(Errno::WOULDBLOCK) => return Err(taken()),
        Err(errno) => return Err(errno.into()),
    }
    // It may have got into its place, or lost its name, before it was locked.
    if is_at(dir, temporary, file)? { Ok(()) } else { Err(taken()) }
}

/// Whether a file is what is under a temporary name.
fn is_at(dir: &Dir, temporary: &str, file: &File) -> Result<bool> {
    match rustix::fs::statat(dir, temporary, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) => Ok(there.st_ino == rustix::fs::fstat(file)?.st_ino),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

fn taken() -> Error {
    Error::Refused("another import is at work on it".to_owned())
}

/// Removes what is under a temporary name: it is of this run, or an earlier one left it.
fn remove(dir: &Dir, temporary: &str) -> Result<()> {
    match rustix::fs::unlinkat(dir, temporary, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether nobody has written to a file, or replaced it, between two looks.
pub(crate) fn is_same(one: &Stat, other: &Stat) -> bool {
    let of =
        |stat: &Stat| (stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec);
    of(one) == of(other)
}

/// close(2), whose errors dropping a file hides.
fn close(file: File) -> Result<()> {
    // SAFETY: the descriptor was owned by `file`, which has given it up, and is not used afterwards.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().into()),
    }
}

#[cfg(test)]
mod tests;
