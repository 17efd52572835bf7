//! A file that is not complete, under a name of its own.

use super::Dir;
use crate::attributes::Carried;
use crate::import::Record;
use crate::{Error, Result};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
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
    file: Option<File>,
    placed: bool,
}

impl Draft {
    /// An empty file.
    pub(crate) fn file(dir: Dir, temporary: String) -> Result<Self> {
        remove(&dir, &temporary)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::openat(&dir, temporary.as_str(), flags, Mode::from_raw_mode(0o666))?;
        Ok(Self { dir, temporary, file: Some(file.into()), placed: false })
    }

    /// A symbolic link.
    pub(crate) fn link(dir: Dir, temporary: String, target: &[u8]) -> Result<Self> {
        remove(&dir, &temporary)?;
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

    /// Puts it in its place, where `seen` is what was there.
    pub(crate) fn place(mut self, name: &Name, seen: Option<&Stat>) -> Result<()> {
        // A file system may say only now that a write failed.
        if let Some(file) = self.file.take() {
            close(file)?;
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
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed
            && let Err(error) = remove(&self.dir, &self.temporary)
        {
            tracing::warn!(%error, name = self.temporary, "a file that is not complete can't be removed");
        }
    }
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
