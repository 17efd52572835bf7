//! The directory that is copied into, or from. No link is followed in it: a tree never leads out of itself.

mod draft;

pub(crate) use draft::{Draft, is_same};

use crate::import::Record;
use crate::{Error, Result};
use parking_lot::Mutex;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::collections::HashMap;
use std::fs::File;
use std::hash::Hasher;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use stoa_vfs::Name;

/// What the names of files begin with that are not complete.
pub const TEMPORARY: &str = ".stoa-import.";

/// So many directories are kept open.
const OPEN_MAX: usize = 256;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A FIFO must not make it wait.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// A directory, and all below it.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Arc<OwnedFd>,
    open: Mutex<HashMap<Vec<u8>, Arc<OwnedFd>>>,
}

/// A directory of a tree.
pub(crate) type Dir = Arc<OwnedFd>;

impl Tree {
    /// The tree at `dir`, which must be there.
    pub(crate) fn open(dir: &Path) -> std::io::Result<Self> {
        let root = rustix::fs::open(dir, DIRECTORY, Mode::empty())?;
        Ok(Self { root: Arc::new(root), open: Mutex::default() })
    }

    pub(crate) fn root(&self) -> Dir {
        Arc::clone(&self.root)
    }

    /// The directory at `path`; `None` if it is not there.
    pub(crate) fn find(&self, path: &[Name]) -> Result<Option<Dir>> {
        match self.walk(path, false) {
            Err(Error::File(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }

    /// The directory at `path`, made if it is not there, with all above it.
    pub(crate) fn make(&self, path: &[Name]) -> Result<Dir> {
        self.walk(path, true)
    }

    fn walk(&self, path: &[Name], make: bool) -> Result<Dir> {
        let Some((last, above)) = path.split_last() else { return Ok(self.root()) };
        let text = joined(path);
        if let Some(open) = self.open.lock().get(&text) {
            return Ok(Arc::clone(open));
        }
        let found = match open(&self.root, &text, DIRECTORY) {
            Err(Errno::NOENT) if make => {
                let above = self.walk(above, true)?;
                match rustix::fs::mkdirat(&above, last.as_bytes(), Mode::from_raw_mode(0o777)) {
                    // Somebody else, or another file of the same directory, was first.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                open(&above, last.as_bytes(), DIRECTORY)?
            }
            found => found?,
        };
        let found = Arc::new(found);
        let mut cached = self.open.lock();
        if cached.len() >= OPEN_MAX {
            cached.clear();
        }
        cached.insert(text, Arc::clone(&found));
        Ok(found)
    }

    /// Opens the file at `path` to read.
    pub(crate) fn file(&self, path: &[Name]) -> Result<File> {
        Ok(open(&self.root, &joined(path), READ)?.into())
    }
}

fn open(dir: impl AsFd, path: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat2(dir, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

fn joined(path: &[Name]) -> Vec<u8> {
    let mut text = Vec::new();
    for name in path {
        if !text.is_empty() {
            text.push(b'/');
        }
        text.extend_from_slice(name.as_bytes());
    }
    text
}

/// What is at a name; `None` for nothing.
pub(crate) fn look(dir: &Dir, name: &Name) -> Result<Option<Stat>> {
    match rustix::fs::statat(dir, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// A path of a name for calls that take no directory.
pub(crate) fn by_proc(dir: &Dir, name: &Name) -> Vec<u8> {
    let mut path = format!("/proc/self/fd/{}/", dir.as_raw_fd()).into_bytes();
    path.extend_from_slice(name.as_bytes());
    path
}

/// The name that the file of `key` has until it is complete: always the same, so that a later run finds what an earlier one left.
pub(crate) fn temporary(key: &str) -> String {
    let mut hash = SipHasher13::new();
    hash.write(key.as_bytes());
    format!("{TEMPORARY}{:032x}", hash.finish128().as_u128())
}

/// Has what was written to files of a tree, at these paths, made durable. One that can't be is told, and copied again by a later run.
pub(crate) fn sync(tree: &Tree, written: &[Vec<Name>]) -> Result<()> {
    sync_each(tree, written, fsync)
}

/// fsync(2), to its end. `EINTR` says nothing of what was written: where a program was killed while the kernel sent the times of its
/// file, the next fsync of the file says so, once (`fuse_flush_time_update`).
fn fsync(file: &File) -> rustix::io::Result<()> {
    retry_on_intr(|| rustix::fs::fsync(file))
}

fn sync_each(tree: &Tree, written: &[Vec<Name>], fsync: impl Fn(&File) -> rustix::io::Result<()>) -> Result<()> {
    let mut first = Ok(());
    for path in written {
        let synced = match open(&tree.root, &joined(path), READ).map(File::from) {
            Ok(file) => fsync(&file).map_err(|errno| failed(&file, errno)),
            // A link, one that may not be read, which was made durable before it had its name, or one that is gone again.
            Err(Errno::LOOP | Errno::ACCESS | Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        };
        // One that failed keeps no other from it.
        first = first.and(synced);
    }
    first
}

/// A file could not be made durable. That is said once: from then on only its record can tell.
fn failed(file: &File, errno: Errno) -> Error {
    if let Err(error) = Record::doubt(file) {
        tracing::warn!(%error, "a file that is not durable can't be marked as that: a later run takes it for the same");
    }
    errno.into()
}

/// Has the names of a tree made durable, and on most file systems all else that is left to do.
pub(crate) fn sync_all(root: &Dir) -> Result<()> {
    // It tells once of every write that failed on the file system, whoever's it was: a program that was killed, say. The files of
    // this tree were asked one by one.
    if rustix::fs::syncfs(root).is_err() {
        rustix::fs::syncfs(root)?;
    }
    // A FUSE server hears nothing of that.
    retry_on_intr(|| rustix::fs::fsync(root))?;
    Ok(())
}

#[cfg(test)]
mod tests;
