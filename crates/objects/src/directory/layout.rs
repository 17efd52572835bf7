//! Where files lie under the root, and the locks around changing them.

use super::errors;
use object_store::path::Path;
use object_store::{Error, ObjectMeta, Result};
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The directory of temporary files, beside the objects so that a rename stays in one file system.
pub(super) const TEMPORARY: &str = ".stoa-tmp";

/// Temporary files not touched for so long belong to a process that died.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug)]
pub(super) struct Layout {
    root: PathBuf,
    /// Taken before the lock file, because `flock` lets those who share starve the one who wants it alone.
    turn: RwLock<()>,
    /// How many of the next syncs of directories fail.
    #[cfg(test)]
    pub(super) syncs_failing: std::sync::atomic::AtomicUsize,
}

pub(super) enum OpenError {
    Missing(PathBuf),
    NoDirectory(PathBuf),
    Io(PathBuf, io::Error),
}

/// The right to change names, shared or alone, against other threads and other processes; held until dropped.
pub(super) struct Turn<'a> {
    _thread: Guard<'a>,
    _process: File,
}

enum Guard<'a> {
    #[expect(dead_code, reason = "held, not read")]
    Shared(RwLockReadGuard<'a, ()>),
    #[expect(dead_code, reason = "held, not read")]
    Alone(RwLockWriteGuard<'a, ()>),
}

impl Layout {
    pub(super) fn open(root: PathBuf) -> std::result::Result<Self, OpenError> {
        match fs::metadata(&root) {
            Ok(meta) if !meta.is_dir() => return Err(OpenError::NoDirectory(root)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Not the whole path is made, lest a mistyped one or a disk not mounted yet should go unnoticed.
                if !root.parent().is_some_and(std::path::Path::is_dir) {
                    return Err(OpenError::Missing(root));
                }
            }
            Err(error) => return Err(OpenError::Io(root, error)),
        }
        let layout = Self {
            root,
            turn: RwLock::new(()),
            #[cfg(test)]
            syncs_failing: Default::default(),
        };
        layout.remove_stale();
        Ok(layout)
    }

    pub(super) fn root(&self) -> &std::path::Path {
        &self.root
    }

    /// The file of `key`.
    pub(super) fn file(&self, key: &Path) -> Result<PathBuf> {
        let mut parts = key.parts().peekable();
        if parts.peek().is_none_or(|first| first.as_ref() == TEMPORARY) {
            return Err(errors::invalid(format!("'{key}' can't be the key of an object in a directory")));
        }
        let mut file = self.root.clone();
        file.extend(key.as_ref().split('/'));
        Ok(file)
    }

    /// The directory of the keys that begin with `prefix`.
    pub(super) fn directory(&self, prefix: &Path) -> PathBuf {
        if prefix.is_root() {
            return self.root.clone();
        }
        let mut directory = self.root.clone();
        directory.extend(prefix.as_ref().split('/'));
        directory
    }

    /// The directory of temporary files, made if need be.
    pub(super) fn temporary(&self) -> io::Result<PathBuf> {
        let directory = self.root.join(TEMPORARY);
        match fs::create_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_directory(&self.root)?;
                if let Some(Err(error)) = self.root.parent().map(|parent| self.sync(parent)) {
                    // The next one who finds it takes it for durable. What can't be removed has been put to use.
                    let _ = fs::remove_dir(&self.root);
                    return Err(error);
                }
                make_directory(&directory)?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other?,
        }
        Ok(directory)
    }

    /// Makes the names in `directory` durable.
    pub(super) fn sync(&self, directory: &std::path::Path) -> io::Result<()> {
        #[cfg(test)]
        {
            use std::sync::atomic::Ordering::Relaxed;
            if self.syncs_failing.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                return Err(io::Error::other("a sync that fails for a test"));
            }
        }
        File::open(directory)?.sync_all()
    }

    /// The right to put names in place beside others who do.
    pub(super) fn share(&self) -> io::Result<Turn<'_>> {
        let thread = Guard::Shared(self.turn.read());
        let process = self.lock_file()?;
        process.lock_shared()?;
        Ok(Turn { _thread: thread, _process: process })
    }

    /// The right to look at a name and change it with nobody in between.
    pub(super) fn alone(&self) -> io::Result<Turn<'_>> {
        let thread = Guard::Alone(self.turn.write());
        let process = self.lock_file()?;
        process.lock()?;
        Ok(Turn { _thread: thread, _process: process })
    }

    /// As [`Layout::alone`], if it can be had at once.
    pub(super) fn try_alone(&self) -> Option<Turn<'_>> {
        let thread = Guard::Alone(self.turn.try_write()?);
        let process = self.lock_file().ok()?;
        process.try_lock().ok()?;
        Some(Turn { _thread: thread, _process: process })
    }

    fn lock_file(&self) -> io::Result<File> {
        let path = self.temporary()?.join("lock");
        OpenOptions::new().create(true).truncate(false).write(true).open(path)
    }

    /// Removes what dead processes left. Whatever goes wrong can wait for the next time.
    fn remove_stale(&self) {
        let Ok(entries) = fs::read_dir(self.root.join(TEMPORARY)) else {
            return;
        };
        let now = SystemTime::now();
        for entry in entries.flatten().filter(|entry| entry.file_name() != "lock") {
            let modified = entry.metadata().and_then(|meta| meta.modified());
            let stale = modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > STALE));
            if stale && fs::remove_file(entry.path()).is_ok() {
                tracing::info!(file = %entry.path().display(), "removed a stale temporary file");
            }
        }
    }
}

/// Makes a directory that someone else may be making, too.
pub(super) fn make_directory(directory: &std::path::Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// What a store says about the object `key`, whose file has `meta`.
pub(super) fn object_meta(key: &Path, meta: &Metadata) -> Result<ObjectMeta> {
    let modified = meta.modified().map_err(|error| errors::of(key, error))?;
    Ok(ObjectMeta {
        location: key.clone(),
        last_modified: modified.into(),
        size: meta.len(),
        e_tag: Some(tag(meta)),
        version: None,
    })
}

/// The tag of a file: another for each put, as the inode of the replaced file is still taken when the new one is made, and
/// each put sets the time anew, to the nanosecond.
pub(super) fn tag(meta: &Metadata) -> String {
    format!("\"{:x}-{:x}.{:x}-{:x}\"", meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.len())
}

/// The metadata of the object `key`: of a plain file, and of nothing else.
pub(super) fn plain_file(key: &Path, meta: Metadata) -> Result<Metadata> {
    if meta.is_file() {
        return Ok(meta);
    }
    Err(Error::NotFound { path: key.to_string(), source: "it is not a plain file".into() })
}
