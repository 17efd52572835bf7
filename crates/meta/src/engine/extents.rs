//! The extents of a file: finding them, and changing them as one edit.

use super::Inner;
use super::names::Changing;
use super::pending::Transaction;
use super::walk::{Pages, Places};
use crate::{Content, Error, Extent, Result};
use parking_lot::Mutex;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use stoa_vfs::Ino;

/// A file with more extents than this is not read into memory whole for a reader; its extents are read as they are needed. A writer at
/// random may ask for a multiple of it: see [`Inner::hold_for_scattered`].
pub(super) const HELD_MAX: usize = 8192;

/// A file that was not to be held is looked at again when it has so many extents fewer, or so large a part of those that were read to find
/// out: that takes a while.
const FEWER: usize = 1024;
const FEWER_PART: usize = 4;

/// An update of so many extents is one of writes at random, for each of which the key-value store would have to be searched.
const SCATTERED: usize = 64;

/// What an extent takes in memory while it is held, roughly, in bytes.
pub(super) const HELD_BYTES: u64 = 160;

/// Extents read at a time of a file that is to be held: one page for most.
const HELD_PAGES: Pages = Pages { first: HELD_MAX + 1, most: HELD_MAX + 1 };

/// Lists that the cache of them expects.
const LISTS: usize = 64;

/// All extents of one file, by the offset after them. Changed only under the exclusive lock of the inode.
pub(super) type ByEnd = Mutex<BTreeMap<u64, Extent>>;

/// What the cache holds of a file.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// None for a file that has too many.
    extents: Option<Arc<ByEnd>>,
    /// How many it might have had to be held.
    tried: usize,
    /// How many there were when that was too much.
    seen: usize,
    /// How many were read since, as they were not held.
    read: Arc<AtomicUsize>,
    /// How many fewer it has got since, as they were not held.
    fewer: Arc<AtomicUsize>,
    /// Bytes, when it was put into the cache.
    weight: u64,
}

impl Held {
    fn new(extents: Option<Arc<ByEnd>>, tried: usize) -> Self {
        let weight = extents.as_ref().map_or(0, |extents| extents.lock().values().map(extent_bytes).sum());
        Self { extents, tried, seen: 0, read: Arc::default(), fewer: Arc::default(), weight: 64 + weight }
    }

    /// Of a file that has more than may be held: `seen` of them were too many, or too heavy.
    fn too_many(tried: usize, seen: usize) -> Self {
        Self { seen, ..Self::new(None, tried) }
    }

    /// Whether `fewer` extents make it worth it to look again.
    fn is_worth_a_look(&self, fewer: usize) -> bool {
        fewer > FEWER.max(self.seen / FEWER_PART)
    }
}

/// Weighs what the cache holds by its bytes.
#[derive(Debug, Clone)]
pub(super) struct Weigh;

impl quick_cache::Weighter<Ino, Held> for Weigh {
    fn weight(&self, _: &Ino, held: &Held) -> u64 {
        held.weight
    }
}

/// A cache of lists, of at most so many bytes. In one part: a list must fit into a part, and one of a large file takes most of all.
pub(super) fn lists(bytes_max: u64) -> Cache<Ino, Held, Weigh> {
    let options = OptionsBuilder::new().shards(1).estimated_items_capacity(LISTS).weight_capacity(bytes_max).build();
    match options {
        Ok(options) => Cache::with_options(options, Weigh, DefaultHashBuilder::default(), DefaultLifecycle::default()),
        Err(_) => Cache::with_weighter(LISTS, bytes_max, Weigh),
    }
}

fn extent_bytes(extent: &Extent) -> u64 {
    let own = match &extent.content {
        Content::Hole => 0,
        Content::Inline(bytes) => bytes.len(),
        Content::Stored(run) => size_of_val(run.frames.as_slice()),
    };
    u64::try_from(own + size_of::<Extent>() + 32).unwrap_or(u64::MAX)
}

impl Inner {
    /// The extents that cover `range`, cut to it and to the size of the file.
    pub(super) async fn extents_of(&self, ino: Ino, range: Range<u64>) -> Result<Vec<Extent>> {
        if let Some(extents) = self.extents_in_memory(ino, &range) {
            return extents;
        }
        let _unchanged = self.locks.shared(&[ino]).await;
        let size = self.locked_inode(ino).await?.size;
        self.locked_extents_of(ino, range.start..range.end.min(size)).await
    }

    /// Like [`Inner::extents_of`], from memory alone, if both the list and the inode are there: a read that needs nothing from the store
    /// waits for nobody. An edit changes both under the mutex of the list ([`Inner::finish_held`]), and the list that is looked at
    /// must still be the one that the cache has: so the size and the extents belong together.
    fn extents_in_memory(&self, ino: Ino, range: &Range<u64>) -> Option<Result<Vec<Extent>>> {
        let list = self.cached.extents.get(&ino)?.extents?;
        let held = list.lock();
        let inode = self.cached.inodes.get(&ino)?;
        let current = self.cached.extents.peek(&ino)?.extents?;
        if !Arc::ptr_eq(&list, &current) {
            return None;
        }
        let range = range.start..range.end.min(inode.size);
        if let Err(error) = self.in_use(ino, inode) {
            return Some(Err(error));
        }
        let cut: Vec<Extent> = touching_held(&held, &range).filter_map(|extent| extent.slice(&range)).collect();
        Some(check_cover(ino, &range, cut.iter()).map(|()| cut))
    }

    /// Like [`Inner::extents_of`], of a range within the size, when the lock is held.
    pub(super) async fn locked_extents_of(&self, ino: Ino, range: Range<u64>) -> Result<Vec<Extent>> {
        let found = self.touching(ino, &range).await?;
        let cut: Vec<Extent> = found.iter().filter_map(|extent| extent.slice(&range)).collect();
        check_cover(ino, &range, cut.iter())?;
        Ok(cut)
    }

    /// The extents that touch `range`, whole. The lock is held.
    async fn touching(&self, ino: Ino, range: &Range<u64>) -> Result<Vec<Extent>> {
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        let mut extents: Vec<Extent> = Vec::new();
        self.walk(ino, range.start, |extent| {
            if extent.offset >= range.end {
                return ControlFlow::Break(());
            }
            extents.push(extent.clone());
            if extent.end() >= range.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .await?;
        Ok(extents)
    }

    /// All extents of a file, if it has not too many to hold.
    pub(super) async fn held(&self, ino: Ino) -> Result<Option<Arc<ByEnd>>> {
        match self.cached.extents.get(&ino) {
            // Who reads as many one by one is going to read more, and not for the first time: a reader passes each thrice.
            Some(held) if self.may_be_held(&held) && held.read.load(Ordering::Relaxed) > HELD_MAX => {
                self.cached.extents.insert(ino, Held::new(None, self.cached.held_max));
                self.hold(ino, self.cached.held_max).await
            }
            Some(held) => Ok(held.extents),
            None => {
                // Others go on without.
                self.cached.extents.insert(ino, Held::new(None, HELD_MAX));
                self.hold(ino, HELD_MAX).await
            }
        }
    }

    /// Takes note that extents were read of a file that is not held.
    pub(super) fn note_read(&self, ino: Ino, count: usize) {
        if let Some(held) = self.cached.extents.get(&ino) {
            held.read.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Holds the extents of a file that gets many small ones, even if there are too many of them to be read for less. The lock is held.
    pub(super) async fn hold_for_scattered(&self, ino: Ino, update: usize) -> Result<()> {
        if update >= SCATTERED && self.cached.extents.get(&ino).is_none_or(|held| self.may_be_held(&held)) {
            self.hold(ino, self.cached.held_max).await?;
        }
        Ok(())
    }

    /// Whether a file is not held, and it is not known either that it has more extents than are ever held: to find that out takes as
    /// long as to read them.
    fn may_be_held(&self, held: &Held) -> bool {
        held.extents.is_none() && held.tried < self.cached.held_max
    }

    /// Reads all extents of a file, unless there are more than `count_max`, or they are too heavy for the cache.
    async fn hold(&self, ino: Ino, count_max: usize) -> Result<Option<Arc<ByEnd>>> {
        let bytes_max = self.cached.held_bytes_max;
        let (mut extents, mut bytes, mut fits) = (BTreeMap::new(), 0, true);
        self.walk_stored(ino, 0, HELD_PAGES, |extent| {
            bytes += extent_bytes(&extent);
            extents.insert(extent.end(), extent);
            fits = extents.len() <= count_max && bytes <= bytes_max;
            if fits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await?;
        // Too heavy is too heavy, however many may be held.
        let tried = if bytes > bytes_max { self.cached.held_max } else { count_max };
        if !fits {
            self.cached.extents.insert(ino, Held::too_many(tried, extents.len()));
            return Ok(None);
        }
        let held = Arc::new(Mutex::new(extents));
        self.cached.extents.insert(ino, Held::new(Some(Arc::clone(&held)), tried));
        Ok(Some(held))
    }

    /// A file that was just made has no extents; nobody needs to look.
    pub(super) fn hold_none(&self, ino: Ino) {
        self.cached.extents.insert(ino, Held::new(Some(Arc::default()), HELD_MAX));
    }

    /// Does what was gathered for an edit, and brings what is held of the file up to it: for a reader, all at one moment.
    pub(super) fn finish_held(&self, ino: Ino, edit: &Edit, changing: Changing) {
        let Some(Held { extents: Some(extents), mut weight, read, fewer, .. }) = self.cached.extents.get(&ino) else {
            self.finish(changing);
            self.note_fewer(ino, edit);
            return;
        };
        let len = {
            let mut held = extents.lock();
            self.finish(changing);
            for extent in edit.removed() {
                if let Some(removed) = held.remove(&extent.end()) {
                    weight = weight.saturating_sub(extent_bytes(&removed));
                }
            }
            for extent in edit.added() {
                weight += extent_bytes(extent);
                held.insert(extent.end(), extent.clone());
            }
            held.len()
        };
        let tried = self.cached.held_max;
        let held = match len <= tried && weight <= self.cached.held_bytes_max {
            true => Held { extents: Some(extents), tried, seen: 0, read, fewer, weight },
            false => Held::too_many(tried, len),
        };
        self.cached.extents.insert(ino, held);
    }

    /// A file that is not held has got other extents. One that lost many may be held by now, and whoever searches it until then passes all
    /// those that are gone: a defragmented file was read at 30 ms a read.
    fn note_fewer(&self, ino: Ino, edit: &Edit) {
        let Some(held) = self.cached.extents.get(&ino) else { return };
        let fewer = edit.removed().count().saturating_sub(edit.added().count());
        if held.is_worth_a_look(held.fewer.fetch_add(fewer, Ordering::Relaxed) + fewer) {
            self.cached.extents.remove(&ino);
        }
    }
}

/// Of a file's extents, those that touch `range`.
fn touching_held<'a>(
    held: &'a BTreeMap<u64, Extent>,
    range: &Range<u64>,
) -> impl Iterator<Item = &'a Extent> + use<'a> {
    // Nothing touches an empty range.
    let end = if range.start < range.end { range.end } else { 0 };
    let from_start = held.range(range.start.saturating_add(1)..).map(|(_, extent)| extent);
    from_start.take_while(move |extent| extent.offset < end)
}

/// A change of a file's extents, worked out in memory. The file's exclusive lock is held while it lives.
#[derive(Debug)]
pub(super) struct Edit {
    ino: Ino,
    /// What the file has, of what was looked at, by offset.
    before: BTreeMap<u64, Extent>,
    /// What it is to have instead.
    after: BTreeMap<u64, Extent>,
    looked_at: Looked,
}

/// Ranges that an edit has read already.
#[derive(Debug, Default)]
struct Looked(BTreeSet<(u64, u64)>);

impl Looked {
    fn has(&self, range: &Range<u64>) -> bool {
        self.0.range(..=(range.start, u64::MAX)).next_back().is_some_and(|(_, end)| *end >= range.end)
    }
}

impl Edit {
    pub(super) fn new(ino: Ino) -> Self {
        Self { ino, before: BTreeMap::new(), after: BTreeMap::new(), looked_at: Looked::default() }
    }

    /// Reads the extents that touch `range`, if that was not done yet.
    pub(super) async fn look_at(&mut self, inner: &Inner, range: &Range<u64>) -> Result<()> {
        if range.start >= range.end || self.looked_at.has(range) {
            return Ok(());
        }
        let found = inner.touching(self.ino, range).await?;
        self.saw(range, found);
        Ok(())
    }

    /// Reads the extents that touch any of the ranges, which are in order and apart. Nothing was looked at before.
    pub(super) async fn look_at_each(
        &mut self,
        inner: &Inner,
        ranges: impl Iterator<Item = Range<u64>> + Send,
    ) -> Result<()> {
        let held = inner.held(self.ino).await?;
        let mut places = Places::new(inner, self.ino);
        for range in ranges.filter(|range| !range.is_empty()) {
            let found = match &held {
                Some(held) => touching_held(&held.lock(), &range).cloned().collect(),
                None => places.touching(&range).await?,
            };
            self.saw(&range, found);
        }
        Ok(())
    }

    fn saw(&mut self, range: &Range<u64>, found: Vec<Extent>) {
        for extent in found {
            if let Entry::Vacant(unseen) = self.before.entry(extent.offset) {
                unseen.insert(extent.clone());
                self.after.insert(extent.offset, extent);
            }
        }
        self.looked_at.0.insert((range.start, range.end));
    }

    /// Takes away what is in `range`, which was looked at; returns it.
    pub(super) fn clear(&mut self, range: &Range<u64>) -> Vec<Extent> {
        let first = self.after.range(..range.start).next_back().filter(|(_, extent)| extent.end() > range.start);
        let touched: Vec<u64> =
            first.into_iter().chain(self.after.range(range.clone())).map(|(offset, _)| *offset).collect();
        let mut cleared = Vec::with_capacity(touched.len());
        for offset in touched {
            let Some(extent) = self.after.remove(&offset) else { continue };
            cleared.extend(extent.slice(range));
            for rest in [extent.slice(&(0..range.start)), extent.slice(&(range.end..u64::MAX))].into_iter().flatten() {
                self.after.insert(rest.offset, rest);
            }
        }
        cleared
    }

    /// Puts an extent in the place of what was there, which was looked at.
    pub(super) fn put(&mut self, extent: Extent) {
        self.clear(&extent.range());
        self.after.insert(extent.offset, extent);
    }

    /// Puts an extent where nothing is.
    pub(super) fn put_free(&mut self, extent: Extent) {
        self.after.insert(extent.offset, extent);
    }

    /// # Errors
    /// [`Error::Corrupt`] unless the extents cover `range`, which was looked at or put.
    pub(super) fn check_cover(&self, range: &Range<u64>) -> Result<()> {
        let first = self.after.range(..range.start).next_back().filter(|(_, extent)| extent.end() > range.start);
        let touching = first.into_iter().chain(self.after.range(range.clone()));
        let cut: Vec<Extent> = touching.filter_map(|(_, extent)| extent.slice(range)).collect();
        check_cover(self.ino, range, cut.iter())
    }

    fn removed(&self) -> impl Iterator<Item = &Extent> {
        self.before.values().filter(|extent| self.after.get(&extent.offset) != Some(extent))
    }

    fn added(&self) -> impl Iterator<Item = &Extent> {
        self.after.values().filter(|extent| self.before.get(&extent.offset) != Some(extent))
    }

    /// Writes the difference into a transaction; returns how the bytes of data changed.
    pub(super) fn record(&self, transaction: &mut Transaction) -> i64 {
        let mut bytes = 0_i64;
        for extent in self.removed() {
            transaction.remove_extent(self.ino, extent);
            bytes = bytes.saturating_sub_unsigned(extent.data_bytes());
        }
        // After the removals: an extent that shrank at its start keeps its key.
        for extent in self.added() {
            transaction.add_extent(self.ino, extent);
            bytes = bytes.saturating_add_unsigned(extent.data_bytes());
        }
        bytes
    }
}

/// A range inside a file's size with neither extent nor hole is an error, never zeros.
fn check_cover<'a>(ino: Ino, range: &Range<u64>, extents: impl Iterator<Item = &'a Extent>) -> Result<()> {
    let mut next = range.start;
    for extent in extents {
        if extent.offset != next {
            break;
        }
        next = extent.end();
    }
    check_cover_from(ino, next, range.end)
}

/// Like [`check_cover`], when the extents cover everything before `next` and nothing from there on.
pub(super) fn check_cover_from(ino: Ino, next: u64, end: u64) -> Result<()> {
    if next >= end {
        return Ok(());
    }
    Err(Error::Corrupt(format!("inode {ino} has neither data nor a hole at offset {next}")))
}

#[cfg(test)]
mod tests;
