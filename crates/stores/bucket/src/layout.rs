//! Which parts an object is made of.
//!
//! A file is laid out in *cells*, each of which can become one part. A cell has its number before anything is known of those before
//! it, so that parts can be sent in any order while the file is being written.

use crate::extents::{Extents, Place};
use std::collections::BTreeSet;
use std::ops::Range;
use stoa_objects::s3::limits::{COPY_BYTES_MAX, PART_BYTES_MIN, PARTS_MAX};

/// The longest part that is copied here, in bytes, if the object is not very long: several shorter ones are copied faster.
const COPY_BYTES: u64 = 256 << 20;

/// Cells of one length: how many, and how many bytes each has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Band {
    count: u32,
    bytes: u64,
}

/// How a file is divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid(Vec<Band>);

/// What may become one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) number: u32,
    pub(crate) range: Range<u64>,
}

/// What has to be done about a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing: it was sent.
    Nothing,
    /// The server copies it.
    Copy,
    /// It is sent.
    Send,
}

/// One part of an object that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) number: u32,
    pub(crate) range: Range<u64>,
    pub(crate) work: Work,
}

impl Grid {
    /// The one for a file that is sent while it is written: short cells first, as its length is not known. `bytes_max` is what one may
    /// take of the memory; with enough of it there is room for 5 TiB.
    pub(crate) fn growing(bytes_max: u64) -> Self {
        let bands = [(1000, 8_u64 << 20), (2000, 64 << 20), (3000, 256 << 20), (4000, 1200 << 20)];
        let band = |(count, bytes): (u32, u64)| Band { count, bytes: bytes.min(bytes_max).max(PART_BYTES_MIN) };
        Self(bands.into_iter().map(band).collect())
    }

    /// One of cells of the same length.
    fn even(bytes: u64) -> Self {
        Self(vec![Band { count: u32::MAX, bytes }])
    }

    /// The cell that `offset` lies in; `None` after the last one.
    pub(crate) fn cell_at(&self, offset: u64) -> Option<Cell> {
        let (mut start, mut number) = (0_u64, 1_u32);
        for band in &self.0 {
            let index = (offset - start) / band.bytes;
            if let Some(index) = u32::try_from(index).ok().filter(|index| *index < band.count) {
                let from = start + u64::from(index) * band.bytes;
                return Some(Cell { number: number.checked_add(index)?, range: from..from + band.bytes });
            }
            (start, number) = (start + u64::from(band.count) * band.bytes, number + band.count);
        }
        None
    }

    /// Whether a file of `size` bytes has a cell for each of them.
    pub(crate) fn covers(&self, size: u64) -> bool {
        size.checked_sub(1).is_none_or(|last| self.cell_at(last).is_some())
    }

    /// The cells that a range touches.
    pub(crate) fn cells(&self, range: Range<u64>) -> impl Iterator<Item = Cell> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            let cell = if at < range.end { self.cell_at(at)? } else { return None };
            at = cell.range.end;
            Some(cell)
        })
    }
}

/// The parts that make a file the object that it is to be. `sent` are the cells of `grid` whose parts have arrived, or are about to, and
/// are as they should be. With none of these, the file is laid out anew: only what was changed is sent, and little around it.
/// `None` if it takes more parts than an object may have.
pub(crate) fn plan(extents: &mut Extents, grid: &Grid, sent: &BTreeSet<u32>) -> Option<Vec<Piece>> {
    if !sent.is_empty() {
        return lay_out(extents, grid, sent);
    }
    let mut bytes = 8 << 20;
    loop {
        let mut pieces = lay_out(extents, &Grid::even(bytes), sent)?;
        if pieces.len() <= PARTS_MAX as usize {
            (1..).zip(&mut pieces).for_each(|(number, piece)| piece.number = number);
            return Some(pieces);
        }
        bytes *= 2;
    }
}

fn lay_out(extents: &mut Extents, grid: &Grid, sent: &BTreeSet<u32>) -> Option<Vec<Piece>> {
    let size = extents.size();
    let copy_bytes = (size / 1000).clamp(COPY_BYTES, COPY_BYTES_MAX - (8 << 20));
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    while at < size {
        let cell = grid.cell_at(at)?;
        let whole = cell.range.start..cell.range.end.min(size);
        let kept = extents.kept_at(at).map_or(at, |kept| kept.end);
        let piece = match () {
            () if sent.contains(&cell.number) => Piece { number: cell.number, range: whole, work: Work::Nothing },
            () if kept >= whole.end => {
                // As many whole cells as are kept and copied at once; the last cell of all may be cut off by the end.
                let last = kept.min(at + copy_bytes.max(whole.end - at));
                let cell_of_last = grid.cell_at(last).filter(|_| last < size);
                let end = cell_of_last.map_or(last, |cell| cell.range.start);
                Piece { number: cell.number, range: at..end, work: Work::Copy }
            }
            () => Piece { number: cell.number, range: whole, work: Work::Send },
        };
        at = piece.range.end;
        pieces.push(piece);
    }
    append(extents, &mut pieces);
    Some(pieces)
}

/// What is appended is sent without what is before it in its cell, if that is copied with the part before.
fn append(extents: &mut Extents, pieces: &mut [Piece]) {
    let [.., before, last] = pieces else { return };
    if (before.work, last.work) != (Work::Copy, Work::Send) {
        return;
    }
    let Some(kept) = extents.kept_at(last.range.start) else { return };
    let too_long = kept.end - before.range.start > COPY_BYTES_MAX;
    if too_long || extents.any(kept.end..last.range.end, |place| *place == Place::Kept) {
        return;
    }
    (before.range.end, last.range.start) = (kept.end, kept.end);
}

#[cfg(test)]
mod tests;
