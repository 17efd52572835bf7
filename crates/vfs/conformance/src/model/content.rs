//! The bytes of one file: pages where something was written, holes everywhere else.

use bytes::{Bytes, BytesMut};
use std::collections::BTreeMap;

/// Holes are this fine.
pub(super) const PAGE: u64 = 4096;
const PAGE_BYTES: usize = 4096;
/// The largest file there can be: offsets are signed in every interface above.
pub(super) const SIZE_MAX: u64 = i64::MAX as u64;

type Page = Box<[u8; PAGE_BYTES]>;

/// Sparse content. No page lies wholly beyond the size, and the bytes of the last one beyond it are zeros.
#[derive(Default)]
pub(super) struct Content {
    size: u64,
    pages: BTreeMap<u64, Page>,
}

/// A part of one page.
struct Piece {
    page: u64,
    /// Where in the page it begins.
    start: usize,
    /// Where in the page it ends.
    end: usize,
}

/// The pages that `offset..end` touches, and what of each.
fn pieces(offset: u64, end: u64) -> impl Iterator<Item = Piece> {
    let pages = if offset < end { offset / PAGE..end.div_ceil(PAGE) } else { 0..0 };
    pages.map(move |page| {
        let base = page * PAGE;
        let start = offset.saturating_sub(base);
        let end = (end - base).min(PAGE);
        // Both are at most PAGE.
        Piece { page, start: start as usize, end: end as usize }
    })
}

impl Content {
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Space taken, in units of 512 bytes.
    pub(super) fn blocks(&self) -> u64 {
        self.pages.len() as u64 * (PAGE / 512)
    }

    /// Up to `size` bytes at `offset`.
    pub(super) fn read(&self, offset: u64, size: usize) -> Bytes {
        let end = offset.saturating_add(size as u64).min(self.size);
        let mut bytes = BytesMut::with_capacity(end.saturating_sub(offset) as usize);
        for piece in pieces(offset, end) {
            match self.pages.get(&piece.page).and_then(|page| page.get(piece.start..piece.end)) {
                Some(data) => bytes.extend_from_slice(data),
                None => bytes.resize(bytes.len() + (piece.end - piece.start), 0),
            }
        }
        bytes.freeze()
    }

    /// Writes `data` at `offset`; the caller checked that it ends within [`SIZE_MAX`].
    pub(super) fn write(&mut self, offset: u64, mut data: &[u8]) {
        let end = offset + data.len() as u64;
        for piece in pieces(offset, end) {
            let Some((now, later)) = data.split_at_checked(piece.end - piece.start) else { break };
            let page = self.pages.entry(piece.page).or_insert_with(|| Box::new([0; PAGE_BYTES]));
            if let Some(target) = page.get_mut(piece.start..piece.end) {
                target.copy_from_slice(now);
            }
            data = later;
        }
        self.size = self.size.max(end);
    }

    /// Cuts or extends to `size`; what is added is a hole.
    pub(super) fn resize(&mut self, size: u64) {
        if size < self.size {
            self.punch(size, self.size);
        }
        self.size = size;
    }

    /// Extends to `size`, if that is more.
    pub(super) fn grow(&mut self, size: u64) {
        self.size = self.size.max(size);
    }

    /// Makes `offset..end` a hole, as far as whole pages go, and zeros otherwise.
    pub(super) fn punch(&mut self, offset: u64, end: u64) {
        // Beyond the size there is nothing; and what is cut there takes the rest of the last page with it.
        let end = if end >= self.size { end.min(self.size).next_multiple_of(PAGE) } else { end };
        let first_whole = offset.div_ceil(PAGE);
        let last_whole = end / PAGE;
        if first_whole < last_whole {
            let inside: Vec<u64> = self.pages.range(first_whole..last_whole).map(|(page, _)| *page).collect();
            for page in inside {
                self.pages.remove(&page);
            }
        }
        for edge in [offset / PAGE, last_whole] {
            let start = offset.max(edge * PAGE);
            let end = end.min(edge.saturating_add(1).saturating_mul(PAGE));
            for piece in pieces(start, end) {
                if let Some(part) =
                    self.pages.get_mut(&piece.page).and_then(|page| page.get_mut(piece.start..piece.end))
                {
                    part.fill(0);
                }
            }
        }
    }

    /// Takes out `len` bytes at `offset`, both whole pages, before the end.
    pub(super) fn collapse(&mut self, offset: u64, len: u64) {
        let after = self.pages.split_off(&((offset + len) / PAGE));
        self.pages.split_off(&(offset / PAGE));
        self.pages.extend(after.into_iter().map(|(page, data)| (page - len / PAGE, data)));
        self.size -= len;
    }

    /// Opens a hole of `len` bytes at `offset`, both whole pages, before the end.
    pub(super) fn insert(&mut self, offset: u64, len: u64) {
        let after = self.pages.split_off(&(offset / PAGE));
        self.pages.extend(after.into_iter().map(|(page, data)| (page + len / PAGE, data)));
        self.size += len;
    }

    /// The first offset from `offset` on, before the end, that is data.
    pub(super) fn next_data(&self, offset: u64) -> Option<u64> {
        let (page, _) = self.pages.range(offset / PAGE..).next()?;
        let data = offset.max(page * PAGE);
        (data < self.size).then_some(data)
    }

    /// The first offset from `offset` on that is in a hole, or the end.
    pub(super) fn next_hole(&self, offset: u64) -> u64 {
        let mut page = offset / PAGE;
        for (data, _) in self.pages.range(page..) {
            if *data != page {
                break;
            }
            page += 1;
        }
        offset.max(page * PAGE).min(self.size)
    }

    /// The written pieces of `offset..end`, with their offsets.
    pub(super) fn written(&self, offset: u64, end: u64) -> Vec<(u64, Bytes)> {
        let end = end.min(self.size);
        if offset >= end {
            return Vec::new();
        }
        let pages = self.pages.range(offset / PAGE..end.div_ceil(PAGE));
        pages
            .map(|(page, _)| {
                let start = offset.max(page * PAGE);
                let end = end.min((page + 1) * PAGE);
                (start, self.read(start, (end - start) as usize))
            })
            .collect()
    }
}
