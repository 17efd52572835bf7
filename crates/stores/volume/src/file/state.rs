//! A file that is open or dirty.

use super::{Layer, Piece};
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;
use stoa_cache::Reservation;
use stoa_vfs::{Error, Ino, Result, Timestamp};
use tokio::sync::{Notify, OnceCell, RwLock};

/// A regular file in use. While there is one for an inode, there is no other, and all writing goes through it.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) ino: Ino,
    /// Held shared by reads and writes, exclusively by what rearranges published extents.
    pub(crate) gate: RwLock<()>,
    /// Held while times are set or published, so that a time that was set is not undone by a write before it.
    pub(crate) times: tokio::sync::Mutex<()>,
    /// Told whenever a frozen layer was published.
    pub(crate) published: Notify,
    ready: OnceCell<()>,
    state: Mutex<FileState>,
}

/// What may change about a [`File`].
#[derive(Debug, Default)]
pub(crate) struct FileState {
    /// What is being written.
    pub(crate) active: Layer,
    /// The memory that `active` takes from the budget.
    pub(crate) reserved: Option<Reservation>,
    /// Layers on their way into the store, oldest first: below `active`, above the published extents.
    pub(crate) frozen: VecDeque<Arc<Frozen>>,
    /// The size that programs see.
    pub(crate) size: u64,
    /// How much shows of what lies below `active`: the smallest size since a layer was frozen.
    size_below: u64,
    /// Something changed that no frozen layer carries yet.
    pub(crate) changed: bool,
    /// When the content changed, if that is not published.
    pub(crate) modified: Option<Timestamp>,
    /// Since when there is something to publish.
    pub(crate) dirty_since: Option<Instant>,
    /// It was cut, and whoever did so may not have written the new content yet.
    pub(crate) replacing: bool,
    /// Open handles that can write.
    pub(crate) writers: u32,
    /// Counts changes of anything that reading depends on.
    pub(crate) generation: u64,
    /// Why what was written was given up. It stays so until nobody uses the file any more: who has it open may have missed it.
    pub(super) failed: Option<Error>,
    /// `size` was filled in.
    pub(super) loaded: bool,
}

/// A layer that no longer changes.
#[derive(Debug)]
pub(crate) struct Frozen {
    pub(crate) layer: Layer,
    /// The size of the file with this layer.
    pub(crate) size: u64,
    /// Given back when the layer is gone.
    _reserved: Option<Reservation>,
}

impl File {
    pub(super) fn new(ino: Ino) -> Self {
        Self {
            ino,
            gate: RwLock::new(()),
            times: tokio::sync::Mutex::new(()),
            published: Notify::new(),
            ready: OnceCell::new(),
            state: Mutex::default(),
        }
    }

    /// Fills in the published size, once.
    pub(super) async fn get_ready(&self, size: impl Future<Output = Result<u64>>) -> Result<()> {
        let fill = async {
            let size = size.await?;
            let mut state = self.state.lock();
            state.was_published(size);
            state.loaded = true;
            Ok(())
        };
        self.ready.get_or_try_init(|| fill).await.map(|_| ())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, FileState> {
        self.state.lock()
    }
}

impl FileState {
    /// Takes note of the size of what is published, when nothing else lies above it.
    pub(crate) fn was_published(&mut self, size: u64) {
        (self.size, self.size_below) = (size, size);
    }

    /// The size, once it is known here: from then on it is always right.
    pub(crate) fn known_size(&self) -> Option<u64> {
        self.loaded.then_some(self.size)
    }

    /// # Errors
    /// Why what was written was given up.
    pub(crate) fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Gives up what is not published: it can't be.
    pub(crate) fn give_up(&mut self, why: Error) {
        self.active = Layer::default();
        self.frozen.clear();
        (self.reserved, self.modified, self.dirty_since) = (None, None, None);
        (self.changed, self.replacing) = (false, false);
        self.generation += 1;
        self.failed.get_or_insert(why);
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.is_active() || !self.frozen.is_empty()
    }

    /// Whether there is something that is not on its way yet.
    pub(crate) fn is_active(&self) -> bool {
        self.changed
    }

    pub(crate) fn dirty_bytes(&self) -> u64 {
        self.active.data_bytes() + self.frozen.iter().map(|frozen| frozen.layer.data_bytes()).sum::<u64>()
    }

    /// Puts a piece at `offset`, modified `now` unless somebody else keeps the times. The file grows as needed, by a hole before the piece if it starts beyond the end.
    pub(crate) fn put(&mut self, offset: u64, piece: Piece, now: Option<Timestamp>) {
        self.grow(offset);
        self.size = self.size.max(offset.saturating_add(piece.len()));
        self.active.put(offset, piece);
        self.dirtied();
        self.modified = now.or(self.modified);
    }

    fn dirtied(&mut self) {
        self.changed = true;
        self.generation += 1;
        self.dirty_since.get_or_insert_with(Instant::now);
    }

    /// Makes the file at least `size` long.
    pub(crate) fn grow(&mut self, size: u64) {
        if size > self.size {
            self.active.put(self.size, Piece::Hole(size - self.size));
            self.size = size;
            self.changed = true;
        }
    }

    /// Cuts the file, or makes it longer.
    pub(crate) fn resize(&mut self, size: u64, now: Timestamp) {
        if size < self.size {
            self.active.clear(size..u64::MAX);
            self.replacing = size == 0 && self.writers > 0;
            self.size = size;
            self.size_below = self.size_below.min(size);
        } else {
            self.grow(size);
        }
        self.touch(now);
    }

    pub(crate) fn touch(&mut self, now: Timestamp) {
        self.modified = Some(now);
        self.dirtied();
    }

    /// Adds to what `active` takes from the budget, and gives back what it no longer needs.
    pub(crate) fn account(&mut self, reservation: Reservation) {
        let mut reserved = reservation;
        if let Some(before) = self.reserved.take() {
            // All reservations of a volume are of one budget, so they always merge.
            drop(reserved.merge(before));
        }
        reserved.shrink(self.active.data_bytes());
        self.reserved = Some(reserved);
    }

    /// Turns what is active into a frozen layer, if there is anything.
    pub(crate) fn freeze(&mut self) -> Option<Arc<Frozen>> {
        if !self.is_active() {
            return None;
        }
        let layer = std::mem::take(&mut self.active);
        let reserved = self.reserved.take();
        self.changed = false;
        self.dirty_since = None;
        Some(self.push(layer, self.size, reserved))
    }

    /// Turns what is active into a frozen layer, up to `end` if the file only grows after it: that stays active, and is as old as it was.
    /// A crash may leave the file shorter then; but within its length never a write without those before it.
    pub(crate) fn freeze_until(&mut self, end: u64) -> Option<Arc<Frozen>> {
        if end < self.size_below || end >= self.size {
            return self.freeze();
        }
        let layer = self.active.take_until(end);
        let reserved = self.reserved.as_mut().map(|all| all.split(layer.data_bytes()));
        Some(self.push(layer, end, reserved))
    }

    fn push(&mut self, layer: Layer, size: u64, reserved: Option<Reservation>) -> Arc<Frozen> {
        let frozen = Arc::new(Frozen { layer, size, _reserved: reserved });
        self.size_below = size;
        self.replacing = false;
        self.frozen.push_back(Arc::clone(&frozen));
        frozen
    }
}

#[cfg(test)]
mod tests;
