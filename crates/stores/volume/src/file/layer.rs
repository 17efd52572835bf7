//! A layer: ranges of a file that were written, or made holes, over what lies below.

use bytes::{Bytes, BytesMut};
use std::collections::BTreeMap;
use std::ops::Range;

/// Neighbours that together are no longer than this are joined, so that many small writes do not make many small pieces.
const JOIN_BYTES: usize = 64 << 10;

/// Pieces that are shorter than this on average are scattered.
const SCATTERED_BYTES: u64 = 32 << 10;

/// A piece holds no more than so many times its bytes in memory. Data may be written in a buffer as large ([`stoa_vfs::Vfs::write`]); what is left
/// of a piece that lies in a larger one is copied out.
const HELD_TIMES_MAX: u64 = 2;

/// What was written to a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// These bytes.
    Data(Bytes),
    /// Zeros that take no space, so many.
    Hole(u64),
}

impl Piece {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Data(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Self::Hole(len) => *len,
        }
    }

    /// The part of it within `range`, which is counted from its own start.
    pub(crate) fn slice(&self, range: Range<u64>) -> Self {
        match self {
            Self::Data(bytes) => {
                let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                Self::Data(bytes.slice(at(range.start)..at(range.end)))
            }
            Self::Hole(_) => Self::Hole(range.end - range.start),
        }
    }

    fn data_len(&self) -> u64 {
        if matches!(self, Self::Data(_)) { self.len() } else { 0 }
    }
}

/// Pieces by offset; no two overlap.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pieces: BTreeMap<u64, Placed>,
    data_bytes: u64,
}

/// A piece of a layer.
#[derive(Debug)]
struct Placed {
    piece: Piece,
    /// The bytes of memory that are not free before it is: its buffer's, of which it may be a part.
    held_bytes: u64,
}

impl Placed {
    /// As it was written.
    fn new(piece: Piece) -> Self {
        let held_bytes = piece.data_len().saturating_mul(HELD_TIMES_MAX);
        Self { piece, held_bytes }
    }

    /// In a buffer of its own.
    fn alone(bytes: Bytes) -> Self {
        let piece = Piece::Data(bytes);
        Self { held_bytes: piece.len(), piece }
    }

    /// What is left of it when only `range` is to be seen. It is copied at most as often as it can be halved: each copy is of less than half
    /// of the buffer before.
    fn rest(&self, range: Range<u64>) -> Self {
        let rest = self.piece.slice(range);
        match &rest {
            Piece::Data(bytes) if rest.len().saturating_mul(HELD_TIMES_MAX) < self.held_bytes => {
                Self::alone(Bytes::copy_from_slice(bytes))
            }
            _ => Self { piece: rest, held_bytes: self.held_bytes },
        }
    }
}

impl Layer {
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Bytes of data, holes not counted.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// Whether its pieces are short, as random writes leave them. Those of a stream are joined until they are not.
    pub(crate) fn is_scattered(&self) -> bool {
        let pieces = u64::try_from(self.pieces.len()).unwrap_or(u64::MAX);
        self.data_bytes < pieces.saturating_mul(SCATTERED_BYTES)
    }

    /// Where its data begin, and the last multiple of `unit` that they reach from there without a gap, with the end of a piece.
    pub(crate) fn stretch(&self, unit: u64) -> Option<Range<u64>> {
        let (start, _) = self.pieces.first_key_value()?;
        let (mut next, mut end) = (*start, None);
        for (offset, placed) in &self.pieces {
            if *offset != next || matches!(placed.piece, Piece::Hole(_)) {
                break;
            }
            next = offset + placed.piece.len();
            end = if next.is_multiple_of(unit) { Some(next) } else { end };
        }
        Some(*start..end?)
    }

    /// Takes out the pieces that begin before `end`.
    pub(crate) fn take_until(&mut self, end: u64) -> Self {
        let after = self.pieces.split_off(&end);
        let pieces = std::mem::replace(&mut self.pieces, after);
        let data_bytes = pieces.values().map(|placed| placed.piece.data_len()).sum();
        self.data_bytes -= data_bytes;
        Self { pieces, data_bytes }
    }

    /// All pieces, in order.
    #[cfg(test)]
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u64, &Piece)> {
        self.pieces.iter().map(|(offset, placed)| (*offset, &placed.piece))
    }

    /// Puts a piece over whatever is there.
    pub(crate) fn put(&mut self, offset: u64, piece: Piece) {
        let len = piece.len();
        if len == 0 {
            return;
        }
        self.clear(offset..offset.saturating_add(len));
        self.data_bytes += piece.data_len();
        let (offset, placed) = self.join_before(offset, &piece).unwrap_or_else(|| (offset, Placed::new(piece)));
        self.pieces.insert(offset, placed);
    }

    /// The piece that ends where this one starts, together with it, if both are small data or both are holes.
    fn join_before(&self, offset: u64, piece: &Piece) -> Option<(u64, Placed)> {
        let (before, last) = self.pieces.range(..offset).next_back()?;
        if before + last.piece.len() != offset {
            return None;
        }
        match (&last.piece, piece) {
            (Piece::Hole(a), Piece::Hole(b)) => Some((*before, Placed::new(Piece::Hole(a + b)))),
            (Piece::Data(a), Piece::Data(b)) if a.len() + b.len() <= JOIN_BYTES => {
                let mut both = BytesMut::with_capacity(a.len() + b.len());
                both.extend_from_slice(a);
                both.extend_from_slice(b);
                Some((*before, Placed::alone(both.freeze())))
            }
            _ => None,
        }
    }

    /// Takes away what is in `range`: what lies below shows again there, if that is inside the file.
    pub(crate) fn clear(&mut self, range: Range<u64>) {
        let before = self.pieces.range(..range.start).next_back();
        let reaching =
            before.filter(|(offset, placed)| **offset + placed.piece.len() > range.start).map(|(offset, _)| *offset);
        let touched: Vec<u64> =
            reaching.into_iter().chain(self.pieces.range(range.clone()).map(|(offset, _)| *offset)).collect();
        for offset in touched {
            let Some(placed) = self.pieces.remove(&offset) else { continue };
            let len = placed.piece.len();
            let end = offset + len;
            self.data_bytes -= placed.piece.data_len();
            let left = (offset < range.start).then(|| (offset, placed.rest(0..range.start - offset)));
            let right = (end > range.end).then(|| (range.end, placed.rest(range.end - offset..len)));
            for (at, rest) in [left, right].into_iter().flatten() {
                self.data_bytes += rest.piece.data_len();
                self.pieces.insert(at, rest);
            }
        }
    }

    /// The parts of pieces within `range`, in order.
    pub(crate) fn within(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, Piece)> + '_ {
        let before = self.pieces.range(..range.start).next_back();
        let reaching = before.filter(|(offset, placed)| **offset + placed.piece.len() > range.start);
        reaching.into_iter().chain(self.pieces.range(range.clone())).map(move |(offset, Placed { piece, .. })| {
            let start = (*offset).max(range.start);
            let end = (offset + piece.len()).min(range.end);
            (start..end, piece.slice(start - offset..end - offset))
        })
    }
}

#[cfg(test)]
mod tests;
