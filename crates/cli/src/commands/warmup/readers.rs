//! Reading several files at once, past the kernel's own cache: it is the mount's cache that is to be filled.

use super::{asked, note};
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much is read with one call.
const READ_BYTES: usize = 1 << 20;
/// Most errors that are listed; the others are counted.
const ERRORS_LISTED_MAX: usize = 100;
/// Most files found and not yet read.
const QUEUE_FILES_MAX: usize = 1024;

/// What the readers and those who watch them share.
#[derive(Debug)]
pub(super) struct Shared {
    files: AtomicU64,
    read_bytes: AtomicU64,
    taken_bytes: AtomicU64,
    limit_bytes: AtomicU64,
    full: AtomicBool,
    interrupted: AtomicBool,
    errors: Mutex<Errors>,
}

/// What could not be read.
#[derive(Debug, Default)]
pub(super) struct Errors {
    /// The first of them.
    pub(super) listed: Vec<(PathBuf, String)>,
    /// How many in all.
    pub(super) count: u64,
}

impl Errors {
    /// How many are not listed.
    pub(super) fn left_out(&self) -> u64 {
        self.count - self.listed.len() as u64
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            files: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
            limit_bytes: AtomicU64::new(u64::MAX),
            full: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            errors: Mutex::default(),
        }
    }
}

impl Shared {
    /// Files read to their end.
    pub(super) fn files(&self) -> u64 {
        self.files.load(Relaxed)
    }

    /// Bytes read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Relaxed)
    }

    /// From now on, the cache is full when so many bytes were read.
    pub(super) fn limit_bytes(&self, bytes: u64) {
        self.limit_bytes.store(bytes, Relaxed);
    }

    /// Stops, because the cache is full.
    pub(super) fn stop_full(&self) {
        self.full.store(true, Relaxed);
    }

    /// Stops, because somebody wants it to.
    pub(super) fn interrupt(&self) {
        self.interrupted.store(true, Relaxed);
    }

    /// Whether the cache is full.
    pub(super) fn is_full(&self) -> bool {
        self.full.load(Relaxed)
    }

    /// Whether somebody wanted it to stop.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Relaxed)
    }

    /// Whether no more is to be read.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_full() || self.is_interrupted()
    }

    /// What could not be read.
    pub(super) fn errors(&self) -> MutexGuard<'_, Errors> {
        // Whoever panicked with it left a list that is whole.
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what could not be looked at.
    pub(super) fn forget_errors(&self) {
        *self.errors() = Errors::default();
    }

    /// Notes what could not be read.
    pub(super) fn failed(&self, path: &Path, error: &io::Error) {
        let mut errors = self.errors();
        errors.count += 1;
        if errors.listed.len() < ERRORS_LISTED_MAX {
            errors.listed.push((path.to_owned(), error.to_string()));
        }
    }

    /// Takes the right to read `wanted` bytes, if the cache has room for so many more. Taken before they are read, so that
    /// readers who run at once don't exceed it together.
    fn take(&self, wanted: usize) -> bool {
        let before = self.taken_bytes.fetch_add(wanted as u64, Relaxed);
        if before.saturating_add(wanted as u64) > self.limit_bytes.load(Relaxed) {
            self.stop_full();
        }
        !self.is_stopped()
    }
}

/// What is to be read.
#[derive(Debug)]
pub(super) struct Reading {
    /// Files and trees.
    pub(super) paths: Vec<PathBuf>,
    /// How many files at once.
    pub(super) parallel: usize,
    /// How they are opened, beside for reading (`O_DIRECT`: past the kernel's cache).
    pub(super) flags: libc::c_int,
}

impl Reading {
    /// Reads until all is read or `shared` says stop.
    pub(super) fn run(&self, shared: &Shared) {
        let (found, files) = sync_channel(QUEUE_FILES_MAX);
        let files = Mutex::new(files);
        std::thread::scope(|scope| {
            for _ in 0..self.parallel {
                scope.spawn(|| read_all(&files, self.flags, shared));
            }
            let sent = asked::each(&self.paths, shared, &mut |path, _| match found.send(path) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
            // Whether all were sent or it was stopped, `shared` knows.
            drop((sent, found));
        });
    }
}

fn read_all(files: &Mutex<Receiver<PathBuf>>, flags: libc::c_int, shared: &Shared) {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let next = files.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(path) = next else { return };
        // What is queued is taken out all the same: the finder must not wait for ever.
        if shared.is_stopped() {
            continue;
        }
        match read(&path, flags, &mut buffer, shared) {
            Ok(true) => {
                shared.files.fetch_add(1, Relaxed);
            }
            Ok(false) => {}
            Err(error) => note(shared, &path, &error),
        }
    }
}

/// Reads the data of a file; whether it came to the end.
fn read(path: &Path, flags: libc::c_int, buffer: &mut [u8], shared: &Shared) -> io::Result<bool> {
    let file = open(path, flags)?;
    let mut offset = 0;
    while let Some(data) = next_data(&file, offset)? {
        offset = data.start;
        while offset < data.end {
            let wanted = usize::try_from(data.end - offset).unwrap_or(usize::MAX).min(buffer.len());
            if !shared.take(wanted) {
                return Ok(false);
            }
            let Some(room) = buffer.get_mut(..wanted) else { return Ok(false) };
            let count = match file.read_at(room, offset) {
                Ok(0) => return Ok(true),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            shared.read_bytes.fetch_add(count as u64, Relaxed);
            offset += count as u64;
        }
    }
    Ok(true)
}

/// Opens a file for reading.
fn open(path: &Path, flags: libc::c_int) -> io::Result<File> {
    File::options().read(true).custom_flags(flags | libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

/// The next bytes at or after `offset` that are no hole.
fn next_data(file: &File, offset: u64) -> io::Result<Option<Range<u64>>> {
    let Some(start) = seek(file, SeekFrom::Data(offset))? else { return Ok(None) };
    Ok(Some(start..seek(file, SeekFrom::Hole(start))?.unwrap_or(u64::MAX)))
}

/// lseek(2); none beyond the end.
fn seek(file: &File, to: SeekFrom) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, to) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
