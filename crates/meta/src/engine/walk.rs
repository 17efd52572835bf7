//! Going through the extents of a file in order, however many there are: what is in memory is a page.

use super::Inner;
use super::extents::check_cover_from;
use super::read::{end_of, extent_of};
use crate::record::{Key, RecordKey};
use crate::{Extent, Result, SegmentId};
use bytes::Bytes;
use std::collections::{HashSet, VecDeque};
use std::ops::{ControlFlow, Range};
use stoa_vfs::{Ino, Kind};

/// How many extents are read at a time: twice as many each time, up to the most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pages {
    pub(super) first: usize,
    pub(super) most: usize,
}

/// A walk begins with few, as it may be a short one.
const PAGES: Pages = Pages { first: 64, most: 1024 };

/// The least that is read for a place; and one of so many extents must be wanted for more.
const PAGE_MIN: usize = 16;
const WANTED: usize = 64;

impl Inner {
    /// Shows `each` the extents of a file, whole and in order, from the one that covers `from` on, until it has seen enough. The lock
    /// is held: so all are of one moment.
    pub(super) async fn walk(
        &self,
        ino: Ino,
        from: u64,
        mut each: impl FnMut(&Extent) -> ControlFlow<()> + Send,
    ) -> Result<()> {
        if let Some(held) = self.held(ino).await? {
            let held = held.lock();
            // Whoever has seen enough has what it wants.
            let _ = held.range(from.saturating_add(1)..).try_for_each(|(_, extent)| each(extent));
            return Ok(());
        }
        let read = self.walk_stored(ino, from, PAGES, |extent| each(&extent)).await?;
        self.note_read(ino, read);
        Ok(())
    }

    /// Like [`Inner::walk`], for a file that is not held. Returns how many it read.
    pub(super) async fn walk_stored(
        &self,
        ino: Ino,
        from: u64,
        pages: Pages,
        mut each: impl FnMut(Extent) -> ControlFlow<()> + Send,
    ) -> Result<usize> {
        let (mut next, mut count, mut read) = (from, pages.first, 0);
        loop {
            let (page, more) = self.page(ino, next, count).await?;
            read += page.len();
            for (key, value) in page {
                // One after the other: what is damaged keeps nobody from what comes before it.
                let extent = extent_of(ino, &key, value)?;
                next = extent.end();
                if each(extent).is_break() {
                    return Ok(read);
                }
            }
            if !more {
                return Ok(read);
            }
            count = (count * 2).min(pages.most);
        }
    }

    /// The records of a page of the extents of a file that is not held, from the one that covers `from` on; and whether there may be more.
    async fn page(&self, ino: Ino, from: u64, count: usize) -> Result<(Vec<(Key, Bytes)>, bool)> {
        let (_, end) = RecordKey::all_about(b'e', ino.0);
        let start = RecordKey::Extent(ino, from.saturating_add(1)).encode();
        let page = self.scan(start..end, count).await?;
        let more = page.len() == count;
        Ok((page, more))
    }

    /// Up to `count` extents that `wanted` names, whole and in order, from the one that covers `from` on.
    async fn gather(
        &self,
        ino: Ino,
        from: u64,
        count: usize,
        wanted: impl Fn(&Extent) -> bool + Send + Sync,
    ) -> Result<Vec<Extent>> {
        let _unchanged = self.locks.shared(&[ino]).await;
        let inode = self.locked_inode(ino).await?;
        if inode.kind != Kind::Regular {
            // A segment that a crash left unnamed names inodes whose numbers were given to others since: to directories, too.
            return Ok(Vec::new());
        }
        let size = inode.size;
        let mut found = Vec::new();
        let mut covered = from;
        self.walk(ino, from, |extent| {
            if found.len() == count || extent.offset > covered {
                return ControlFlow::Break(());
            }
            covered = extent.end();
            if wanted(extent) {
                found.push(extent.clone());
            }
            ControlFlow::Continue(())
        })
        .await?;
        if found.len() < count {
            check_cover_from(ino, covered, size)?;
        }
        Ok(found)
    }

    pub(super) async fn extents_after(&self, ino: Ino, from: u64, count: usize) -> Result<Vec<Extent>> {
        self.gather(ino, from, count, |_| true).await
    }

    pub(super) async fn extents_within(
        &self,
        ino: Ino,
        segments: &HashSet<SegmentId>,
        from: u64,
        count: usize,
    ) -> Result<Vec<Extent>> {
        self.gather(ino, from, count, |extent| extent.segment().is_some_and(|segment| segments.contains(&segment)))
            .await
    }

    /// How far the first `count` extents of `range` reach within it. The lock is held.
    pub(super) async fn reach(&self, ino: Ino, range: Range<u64>, count: usize) -> Result<u64> {
        let (mut left, mut reached) = (count, range.end);
        self.walk(ino, range.start, |extent| {
            left -= 1;
            reached = extent.end().min(range.end);
            if left == 0 || extent.end() >= range.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .await?;
        // What there is no extent for is for others to find.
        Ok(if left == 0 { reached } else { range.end })
    }

    /// Where every `count`-th extent of a range starts, the first one included. The lock is held.
    pub(super) async fn starts_of_each(&self, ino: Ino, range: Range<u64>, count: usize) -> Result<Vec<u64>> {
        let (mut starts, mut seen) = (Vec::new(), 0_usize);
        self.walk(ino, range.start, |extent| {
            if extent.offset >= range.end {
                return ControlFlow::Break(());
            }
            if seen.is_multiple_of(count) {
                starts.push(extent.offset);
            }
            seen += 1;
            ControlFlow::Continue(())
        })
        .await?;
        Ok(starts)
    }
}

/// Goes forward through the extents of a file that is not held, from place to place. Pages serve as many places as lie within them: of
/// very many places, to search for each by itself would take the time of all of the file's extents several times over.
#[derive(Debug)]
pub(super) struct Places<'i> {
    inner: &'i Inner,
    ino: Ino,
    /// Records, by where their extents end. They are read when they are wanted: what is damaged is for those to find who touch it.
    page: VecDeque<(u64, Key, Bytes)>,
    /// Up to where `page` has all that was not passed.
    reached: u64,
    /// Whether there may be extents after the page.
    more: bool,
    /// Extents to read next, and how many of those that were read were wanted.
    count: usize,
    wanted: usize,
}

impl<'i> Places<'i> {
    pub(super) fn new(inner: &'i Inner, ino: Ino) -> Self {
        Self { inner, ino, page: VecDeque::new(), reached: 0, more: true, count: PAGES.first, wanted: 0 }
    }

    /// The extents that touch `range`, whole. It begins where the one before did, or later. The lock is held.
    pub(super) async fn touching(&mut self, range: &Range<u64>) -> Result<Vec<Extent>> {
        while self.page.front().is_some_and(|(end, ..)| *end <= range.start) {
            self.page.pop_front();
        }
        while self.more && self.reached < range.end {
            self.read_on(self.reached.max(range.start)).await?;
        }
        let mut touching: Vec<Extent> = Vec::new();
        for (end, key, value) in &self.page {
            let extent = extent_of(self.ino, key, value.clone())?;
            if extent.offset >= range.end {
                break;
            }
            touching.push(extent);
            if *end >= range.end {
                break;
            }
        }
        self.wanted += touching.len();
        Ok(touching)
    }

    async fn read_on(&mut self, from: u64) -> Result<()> {
        // Longer pages while one in some of them is wanted: to begin another takes the time of many.
        let worth_it = self.wanted >= self.count / WANTED;
        self.count = if worth_it { (self.count * 2).min(PAGES.most) } else { (self.count / 2).max(PAGE_MIN) };
        self.wanted = 0;
        let (page, more) = self.inner.page(self.ino, from, self.count).await?;
        self.inner.note_read(self.ino, page.len());
        self.more = more;
        self.reached = from;
        for (key, value) in page {
            self.reached = end_of(self.ino, &key)?;
            self.page.push_back((self.reached, key, value));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
