//! The disk cache: pieces as stored, in slab files of a fixed size, thrown out slab by slab.
//!
//! It may fail at any moment, and then reads go to the store. Every entry carries checksums and its name, so that a
//! torn, stale or damaged one is a miss. Nothing is synced: after a crash, the slab that was being filled is thrown away,
//! and others are as good as their checksums. Reads and writes are switched off separately, so that a full disk
//! leaves what is on it of use.

mod entry;
mod files;
mod index;
mod slabs;
mod switch;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::task;

use crate::object::Key;
use crate::{DiskOptions, DiskState, Reservation};
use entry::{HEADER_BYTES, fingerprint};
use files::{Files, Folder, room};
use index::{INDEX_ENTRY_BYTES, Index};
use slabs::{Active, Limits};
use switch::Switch;

/// How long the disk is left alone after a first failure.
const WAIT_FIRST: Duration = Duration::from_secs(60);

type Open = Box<dyn Fn() -> io::Result<Arc<dyn Files>> + Send + Sync>;

/// The disk cache of one volume.
pub(crate) struct Disk {
    open: Open,
    limits: Limits,
    index: Mutex<Index>,
    files: Mutex<Option<Arc<dyn Files>>>,
    queue: Mutex<Queue>,
    active: Mutex<Option<Active>>,
    reads: Switch,
    writes: Switch,
}

/// What waits to be written, and whether a task is at it.
struct Queue {
    bytes: u64,
    bytes_max: u64,
    writing: bool,
    waiting: VecDeque<(Key, Bytes, Reservation)>,
}

impl Disk {
    /// Opens the folder and finds what an earlier run left there; when that fails, it is tried again later. Blocks.
    ///
    /// The index takes at most `index_bytes_max` of memory, what waits to be written at most `queue_bytes_max`.
    pub(crate) fn open(options: DiskOptions, index_bytes_max: u64, queue_bytes_max: u64) -> Arc<Self> {
        let path = options.dir.join(&options.volume);
        let folder = path.clone();
        let open = move || Ok(Arc::new(Folder::open(&folder)?) as Arc<dyn Files>);
        // A disk that is filled to its end is of no use to anybody, and no slab may fit on a small one.
        let bytes_max = options.bytes_max.min(room(&path).unwrap_or(u64::MAX));
        if bytes_max < options.bytes_max {
            tracing::warn!(path = %path.display(), bytes_max, "the disk has less room than the disk cache may take");
        }
        let limits = Limits::new(bytes_max, index_bytes_max / INDEX_ENTRY_BYTES);
        Self::with(Box::new(open), limits, queue_bytes_max, WAIT_FIRST)
    }

    fn with(open: Open, limits: Limits, queue_bytes_max: u64, wait_first: Duration) -> Arc<Self> {
        let queue = Queue { bytes: 0, bytes_max: queue_bytes_max, writing: false, waiting: VecDeque::new() };
        let disk = Arc::new(Self {
            open,
            limits,
            index: Mutex::default(),
            files: Mutex::new(None),
            queue: Mutex::new(queue),
            active: Mutex::new(None),
            reads: Switch::new("reading", wait_first),
            writes: Switch::new("writing", wait_first),
        });
        if let Err(error) = disk.files() {
            disk.writes.fail(&error);
        }
        disk
    }

    /// Whether a piece seems to be on disk. Does no IO.
    pub(crate) fn holds(&self, key: &Key, len: u32) -> bool {
        let place = self.index.lock().find(fingerprint(key));
        place.is_some_and(|place| place.len == len) && self.reads.allows()
    }

    /// The stored bytes of a piece, if they are on disk and whole. Blocks on the disk.
    pub(crate) fn read(&self, key: &Key, len: u32) -> Option<Bytes> {
        let fingerprint = fingerprint(key);
        let place = self.index.lock().find(fingerprint).filter(|place| place.len == len)?;
        let files = self.files.lock().clone()?;
        let entry_len = HEADER_BYTES.checked_add(usize::try_from(len).ok()?)?;
        match files.read(place.slab, u64::from(place.position), entry_len) {
            Ok(entry) if entry::is_intact(&entry, key, len) => {
                self.reads.succeed();
                self.index.lock().hit(&place);
                Some(Bytes::from(entry).slice(HEADER_BYTES..))
            }
            Ok(_) => {
                self.index.lock().remove(fingerprint, &place);
                None
            }
            Err(error) => {
                self.index.lock().remove(fingerprint, &place);
                // The slab was thrown out between the look and the read, or someone emptied the folder.
                if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) {
                    self.reads.fail(&error);
                }
                None
            }
        }
    }

    /// Forgets a piece whose bytes turned out to be corrupt.
    pub(crate) fn remove(&self, key: &Key) {
        let fingerprint = fingerprint(key);
        let mut index = self.index.lock();
        if let Some(place) = index.find(fingerprint) {
            index.remove(fingerprint, &place);
        }
    }

    /// Writes a piece in the background, unless too much waits already. `memory` is what `stored` takes.
    pub(crate) fn offer(self: &Arc<Self>, key: Key, stored: Bytes, memory: Reservation) {
        let known = self.index.lock().find(fingerprint(&key)).is_some();
        if known || !self.limits.admits(stored.len()) || !self.writes.allows() {
            return;
        }
        let mut queue = self.queue.lock();
        let bytes = (HEADER_BYTES + stored.len()) as u64;
        if queue.bytes + bytes > queue.bytes_max {
            return;
        }
        queue.bytes += bytes;
        queue.waiting.push_back((key, stored, memory));
        if !std::mem::replace(&mut queue.writing, true) {
            let disk = Arc::clone(self);
            task::spawn_blocking(move || disk.write_waiting());
        }
    }

    /// What the slab files may take by now, in bytes: each is counted in full.
    pub(crate) fn bytes(&self) -> u64 {
        self.index.lock().slabs() * self.limits.slab_bytes
    }

    /// What they may take at most, in bytes.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.limits.slabs_max * self.limits.slab_bytes
    }

    /// What the index takes, in bytes of memory.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.index.lock().entries() * INDEX_ENTRY_BYTES
    }

    pub(crate) fn state(&self) -> DiskState {
        self.writes.reason().or_else(|| self.reads.reason()).map_or(DiskState::On, DiskState::Off)
    }

    /// Writes until nothing waits.
    fn write_waiting(&self) {
        loop {
            let (key, stored, memory) = {
                let mut queue = self.queue.lock();
                let Some(next) = queue.waiting.pop_front() else {
                    queue.writing = false;
                    return;
                };
                queue.bytes = queue.bytes.saturating_sub((HEADER_BYTES + next.1.len()) as u64);
                next
            };
            if self.writes.allows() {
                match self.write(&key, &stored) {
                    Ok(()) => self.writes.succeed(),
                    Err(error) => self.writes.fail(&error),
                }
            }
            drop(memory);
        }
    }

    fn write(&self, key: &Key, stored: &Bytes) -> io::Result<()> {
        let files = self.files()?;
        if self.index.lock().find(fingerprint(key)).is_some() {
            return Ok(());
        }
        let mut slot = self.active.lock();
        let mut active = match slot.take() {
            Some(active) if active.has_room(&self.limits, stored.len()) && self.has_entries() => active,
            Some(full) => {
                if let Err(error) = full.seal(&*files) {
                    full.abandon(&*files, &self.index);
                    return Err(error);
                }
                Active::begin(&*files, &self.index, &self.limits)?
            }
            None => Active::begin(&*files, &self.index, &self.limits)?,
        };
        if let Err(error) = active.put(&*files, &self.index, key, stored) {
            active.abandon(&*files, &self.index);
            return Err(error);
        }
        *slot = Some(active);
        Ok(())
    }

    /// Whether the index has room for another entry; if not, a new slab is begun, which throws out old ones.
    fn has_entries(&self) -> bool {
        self.index.lock().entries() < self.limits.entries_max
    }

    /// The folder, opened now if that failed before.
    fn files(&self) -> io::Result<Arc<dyn Files>> {
        let mut files = self.files.lock();
        if let Some(files) = &*files {
            return Ok(Arc::clone(files));
        }
        let opened = (self.open)()?;
        // An earlier try may have failed half-way.
        *self.index.lock() = Index::default();
        slabs::load(&*opened, &self.index, &self.limits)?;
        *files = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl Drop for Disk {
    /// Ends the slab being filled, so that it is found again: one small write to the page cache, not waited for.
    fn drop(&mut self) {
        if let (Some(active), Some(files)) = (self.active.lock().take(), self.files.lock().take()) {
            // Without its table the slab is thrown away at the next opening, which is all that is lost.
            drop(active.seal(&*files));
        }
    }
}

#[cfg(test)]
mod tests;
