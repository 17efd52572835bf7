//! What a file that is being written is made of: ranges that cover it from its start to its end.
//!
//! A byte is always at its own offset: of the object that is replaced, of the spill file, of the part that was sent. So a range says
//! only where its bytes are.

use bytes::{Bytes, BytesMut};
use std::collections::BTreeMap;
use std::ops::Range;

/// What is written in shorter pieces than this is copied together, as a program writes a file byte by byte; longer pieces stay
/// in the buffers that they came in.
const COPIED_BYTES_MAX: usize = 64 << 10;

/// The longest piece that is copied together, in bytes.
const TAIL_BYTES_MAX: usize = 1 << 20;

/// Memory that a piece takes beside its bytes.
const PIECE_OVERHEAD_BYTES: u64 = 192;

/// Where the bytes of a range are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the object that is replaced.
    Kept,
    /// Nowhere: they are zeros.
    Zeros,
    /// In memory.
    Held(Bytes),
    /// In the spill file.
    Spilled,
    /// Only in a part that was sent, where nobody can read them before the upload is complete.
    Sent,
}

/// The ranges of a file.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    map: BTreeMap<u64, Extent>,
    size: u64,
    /// What was written last, piece by piece, at the end of the file. It is not in the map.
    tail: BytesMut,
    pieces: u64,
    held: u64,
}

#[derive(Debug, Clone)]
struct Extent {
    len: u64,
    place: Place,
    /// How long the buffer is that bytes in memory lie in, as far as that is known.
    backing: u64,
}

impl Extents {
    /// A file of `size` bytes, all of them in the object that is replaced.
    pub(crate) fn kept(size: u64) -> Self {
        let mut extents = Self::default();
        extents.put(0, size, Place::Kept);
        extents.size = size;
        extents
    }

    /// The length of the file in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The memory that it takes, in bytes.
    pub(crate) fn held(&self) -> u64 {
        self.held + self.tail.len() as u64 + PIECE_OVERHEAD_BYTES * (self.pieces + u64::from(!self.tail.is_empty()))
    }

    /// The most memory that `len` bytes more can take.
    pub(crate) fn cost(len: u64) -> u64 {
        // What lies around it may become two pieces of one.
        len + 2 * PIECE_OVERHEAD_BYTES
    }

    /// Bytes in memory from `offset` on; what is between the end of the file and there is zeros.
    pub(crate) fn write(&mut self, offset: u64, data: Bytes) {
        if data.is_empty() {
            return;
        }
        let (len, end) = (data.len(), offset + data.len() as u64);
        let small = len < COPIED_BYTES_MAX;
        if small && offset == self.size && !self.tail.is_empty() && self.tail.len() + len <= TAIL_BYTES_MAX {
            self.tail.extend_from_slice(&data);
            self.size = end;
            return;
        }
        self.seal();
        if small && offset >= self.size {
            self.resize(offset);
            self.tail.extend_from_slice(&data);
            self.size = end;
            return;
        }
        self.set(offset..end, Place::Held(data));
    }

    /// Says where a range is; what is between the end of the file and there is zeros.
    pub(crate) fn set(&mut self, range: Range<u64>, place: Place) {
        if range.is_empty() {
            return;
        }
        if range.start > self.size {
            self.resize(range.start);
        }
        self.seal();
        self.carve(range.clone());
        self.put(range.start, range.end - range.start, place);
        self.size = self.size.max(range.end);
    }

    /// Cuts it, or makes it longer by zeros.
    pub(crate) fn resize(&mut self, size: u64) {
        self.seal();
        let before = self.size;
        if size < before {
            self.carve(size..before);
        } else if size > before {
            self.put(before, size - before, Place::Zeros);
        }
        self.size = size;
    }

    /// Where the bytes of a range are, as far as it lies in the file, in order.
    pub(crate) fn runs(&mut self, range: Range<u64>) -> Vec<(Range<u64>, Place)> {
        self.seal();
        let range = range.start..range.end.min(self.size);
        if range.is_empty() {
            return Vec::new();
        }
        let first = self.map.range(..=range.start).next_back().map_or(range.start, |(start, _)| *start);
        let within = |(start, extent): (&u64, &Extent)| {
            let run = (*start).max(range.start)..(start + extent.len).min(range.end);
            let place = match &extent.place {
                Place::Held(data) => Place::Held(slice(data, run.start - start, run.end - start)),
                other => other.clone(),
            };
            (run, place)
        };
        self.map.range(first..range.end).map(within).filter(|(run, _)| !run.is_empty()).collect()
    }

    /// Whether `is` holds for any of a range.
    pub(crate) fn any(&mut self, range: Range<u64>, is: impl Fn(&Place) -> bool) -> bool {
        self.runs(range).iter().any(|(_, place)| is(place))
    }

    /// The range around `offset` that is of the object that is replaced.
    pub(crate) fn kept_at(&mut self, offset: u64) -> Option<Range<u64>> {
        self.seal();
        let (start, extent) = self.map.range(..=offset).next_back()?;
        let range = *start..start + extent.len;
        (extent.place == Place::Kept && range.contains(&offset)).then_some(range)
    }

    /// Puts what was written piece by piece among the others.
    fn seal(&mut self) {
        if !self.tail.is_empty() {
            let data = std::mem::take(&mut self.tail).freeze();
            let len = data.len() as u64;
            self.put(self.size - len, len, Place::Held(data));
        }
    }

    /// Takes a range out.
    fn carve(&mut self, range: Range<u64>) {
        let first = self.map.range(..=range.start).next_back().map_or(range.start, |(start, _)| *start);
        let touched: Vec<u64> = self.map.range(first..range.end).map(|(start, _)| *start).collect();
        for start in touched {
            let Some(extent) = self.remove(start) else { continue };
            let end = start + extent.len;
            for part in [start..end.min(range.start), start.max(range.end)..end] {
                if !part.is_empty() {
                    self.insert(part.start, cut(&extent, part.start - start..part.end - start));
                }
            }
        }
    }

    /// Adds a range where there is none. Neighbours in the same place become one, but for those in memory.
    fn put(&mut self, start: u64, len: u64, place: Place) {
        let (mut start, mut len) = (start, len);
        if len == 0 {
            return;
        }
        if !matches!(place, Place::Held(_)) {
            let before = self.map.range(..start).next_back();
            if let Some((at, _)) = before.filter(|(at, it)| **at + it.len == start && it.place == place) {
                let at = *at;
                len += self.remove(at).map_or(0, |it| it.len);
                start = at;
            }
            let end = start + len;
            if self.map.get(&end).is_some_and(|after| after.place == place) {
                len += self.remove(end).map_or(0, |it| it.len);
            }
        }
        let backing = len;
        self.insert(start, Extent { len, place, backing });
    }

    fn insert(&mut self, start: u64, extent: Extent) {
        if matches!(extent.place, Place::Held(_)) {
            (self.pieces, self.held) = (self.pieces + 1, self.held + extent.len);
        }
        self.map.insert(start, extent);
    }

    fn remove(&mut self, start: u64) -> Option<Extent> {
        let extent = self.map.remove(&start)?;
        if matches!(extent.place, Place::Held(_)) {
            (self.pieces, self.held) = (self.pieces - 1, self.held - extent.len);
        }
        Some(extent)
    }
}

/// A part of an extent. A small rest of a large buffer gets a buffer of its own: otherwise it would hold all of it.
fn cut(extent: &Extent, part: Range<u64>) -> Extent {
    let len = part.end - part.start;
    let (place, backing) = match &extent.place {
        Place::Held(data) => {
            let rest = slice(data, part.start, part.end);
            match len < extent.backing / 2 {
                true => (Place::Held(Bytes::copy_from_slice(&rest)), len),
                false => (Place::Held(rest), extent.backing),
            }
        }
        other => (other.clone(), len),
    };
    Extent { len, place, backing }
}

fn slice(data: &Bytes, start: u64, end: u64) -> Bytes {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
    data.slice(at(start)..at(end))
}

#[cfg(test)]
mod tests;
