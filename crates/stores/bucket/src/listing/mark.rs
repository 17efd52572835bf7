//! Where pages begin.

use std::sync::Arc;
use stoa_objects::s3::Listed;
use stoa_vfs::Name;

/// Where a page begins, and what is still open there. The default is the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The key, or what keys have in common, that came last before it; empty at the start.
    pub(super) after: String,
    /// Objects before it of which it is not known yet whether there is a directory beside: each key begins with the one before.
    pub(super) open: Vec<Listed>,
    /// The last name that came for the beginning of components that are too long.
    pub(super) continued: Option<Name>,
}

/// The marks of a pass, as far as it has come.
#[derive(Debug)]
pub(super) struct Marks {
    marks: Vec<Arc<Mark>>,
    /// Whether the last page is known to be the last.
    ended: bool,
}

impl Default for Marks {
    fn default() -> Self {
        Self { marks: vec![Arc::default()], ended: false }
    }
}

impl Marks {
    /// The mark of page `number`, and where the next page begins, if that is known.
    pub(super) fn of(&self, number: u32) -> Option<(Arc<Mark>, Option<Arc<Mark>>)> {
        let at = usize::try_from(number).ok()?;
        Some((self.marks.get(at).cloned()?, self.marks.get(at + 1).cloned()))
    }

    /// The last page that was fetched ends at `next`, or is the last.
    pub(super) fn reached(&mut self, next: Option<Mark>) {
        self.ended = next.is_none();
        self.marks.extend(next.map(Arc::new));
    }

    /// How many pages there are, as far as it has come.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.marks.len()).unwrap_or(u32::MAX)
    }

    /// Whether page `number` comes after the last.
    pub(super) fn is_beyond(&self, number: u32) -> bool {
        self.ended && usize::try_from(number).is_ok_and(|at| at == self.marks.len())
    }

    /// The page that has `key`, if it was fetched.
    pub(super) fn covering(&self, key: &str) -> Option<u32> {
        let at = self.marks.partition_point(|mark| mark.after.as_str() < key).checked_sub(1)?;
        let fetched = self.ended || at + 1 < self.marks.len();
        u32::try_from(at).ok().filter(|_| fetched)
    }
}
