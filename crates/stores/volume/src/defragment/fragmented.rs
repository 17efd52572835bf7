//! The files that are worth looking at.

use super::{SCATTERED, is_scattered};
use crate::log::INLINE_BYTES;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use stoa_meta::{Extent, FileUpdate};
use stoa_vfs::Ino;

/// The most files to remember; others are found when they are written or read again.
const FILES_MAX: usize = 65_536;

/// Files that were found scattered, and where in them.
#[derive(Debug, Default)]
pub(crate) struct Fragmented {
    known: Mutex<Known>,
    /// Held by who brings together: one at a time.
    pub(super) joining: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    files: BTreeMap<Ino, Range<u64>>,
    /// They have parts that can't be read. What was scattered beside these may have stayed so.
    damaged: HashSet<Ino>,
}

impl Fragmented {
    /// Hears what is published.
    pub(crate) fn published(&self, update: &FileUpdate) {
        let small = |extent: &Extent| (1..=INLINE_BYTES).contains(&extent.data_bytes());
        let scattered = update.extents.len() >= SCATTERED;
        if scattered || (update.size > INLINE_BYTES && update.extents.iter().any(small)) {
            self.known.lock().add(update.ino, range_of(&update.extents));
        }
    }

    /// Hears what is read, one extent after the other; says whether it lies scattered. In a file with damage that is nothing new.
    pub(crate) fn found(&self, ino: Ino, extents: &[Extent], read_only: bool) -> bool {
        let scattered = is_scattered(extents);
        if scattered && !read_only {
            let mut known = self.known.lock();
            if !known.damaged.contains(&ino) {
                known.add(ino, range_of(extents));
            }
        }
        scattered
    }

    pub(super) fn is_damaged(&self, ino: Ino) {
        let mut known = self.known.lock();
        if known.damaged.len() < FILES_MAX {
            known.damaged.insert(ino);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.lock().files.is_empty()
    }

    /// The next file.
    pub(super) fn next(&self) -> Option<Turn<'_>> {
        let (ino, range) = self.known.lock().files.pop_first()?;
        Some(Turn { fragmented: self, ino, range, done: false })
    }
}

impl Known {
    fn add(&mut self, ino: Ino, range: Range<u64>) {
        let room = self.files.len() < FILES_MAX;
        match self.files.get_mut(&ino) {
            Some(known) => *known = known.start.min(range.start)..known.end.max(range.end),
            None if room => drop(self.files.insert(ino, range)),
            None => {}
        }
    }
}

fn range_of(extents: &[Extent]) -> Range<u64> {
    let (first, last) = (extents.first(), extents.last());
    first.map_or(0, |first| first.offset)..last.map_or(0, Extent::end)
}

/// A file whose turn it is: another time, unless it is done with.
#[derive(Debug)]
pub(super) struct Turn<'f> {
    fragmented: &'f Fragmented,
    pub(super) ino: Ino,
    pub(super) range: Range<u64>,
    done: bool,
}

impl Turn<'_> {
    pub(super) fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.fragmented.known.lock().add(self.ino, self.range.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_meta::Content;

    fn scattered(from: u64) -> Vec<Extent> {
        let page = |number: u64| Extent {
            offset: from + number * 4096,
            len: 4096,
            content: Content::Inline(vec![1; 4096].into()),
        };
        (0..64).map(page).collect()
    }

    #[test]
    fn a_file_keeps_its_turn_until_it_is_done_with() {
        let fragmented = Fragmented::default();
        let update = FileUpdate { ino: Ino(7), extents: scattered(0), size: 1 << 20, modified: None };
        fragmented.published(&update);
        assert!(fragmented.found(Ino(7), &scattered(1 << 20), false));
        let turn = fragmented.next().unwrap();
        assert_eq!((turn.ino, turn.range.clone()), (Ino(7), 0..(1 << 20) + 64 * 4096));
        assert!(fragmented.is_empty());
        // As when who asked for it does not wait any more.
        drop(turn);
        fragmented.next().unwrap().done();
        assert!(fragmented.next().is_none());
    }

    #[test]
    fn readers_say_nothing_of_what_is_mounted_read_only_or_damaged() {
        let fragmented = Fragmented::default();
        fragmented.is_damaged(Ino(8));
        assert!(fragmented.found(Ino(7), &scattered(0), true));
        assert!(fragmented.found(Ino(8), &scattered(0), false));
        assert!(!fragmented.found(Ino(9), &scattered(0)[..8], false));
        assert!(fragmented.is_empty());
    }
}
