//! Extents: which bytes of a file lie where.

use bytes::Bytes;
use std::fmt;
use std::ops::Range;

/// The number of a segment, unique in its volume: the epoch of the mount that wrote it, then a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

impl SegmentId {
    /// The `sequence`-th segment of the mount with `epoch`.
    #[must_use]
    pub fn new(epoch: u32, sequence: u32) -> Self {
        Self((u64::from(epoch) << 32) | u64::from(sequence))
    }

    /// The epoch of the mount that wrote it.
    #[must_use]
    pub fn epoch(self) -> u32 {
        u32::try_from(self.0 >> 32).unwrap_or(u32::MAX)
    }
}

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// How a frame is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// As it is.
    Raw,
    /// One zstd frame.
    Zstd,
}

/// One frame of a segment. Everything that reading it takes is here, so that a cold read costs one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRef {
    /// Bytes it takes in the segment.
    pub stored_len: u32,
    /// Bytes of file data in it.
    pub data_len: u32,
    /// CRC-64/NVME of the file data, computed before compression.
    pub checksum: u64,
    /// How it is stored.
    pub codec: Codec,
}

/// Frames that lie side by side in one segment, and which of their bytes are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The segment.
    pub segment: SegmentId,
    /// Where the first frame starts in it.
    pub stored_offset: u32,
    /// Bytes of the first frame's data that do not belong to the extent.
    pub skip: u32,
    /// The frames.
    pub frames: Vec<FrameRef>,
}

/// What a range of a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nothing: zeros that take no space.
    Hole,
    /// These very bytes.
    Inline(Bytes),
    /// Bytes of frames.
    Stored(Run),
}

/// A range of one file and what it holds. The extents of a file cover it from 0 to its size, without gap or overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// Where in the file it starts.
    pub offset: u64,
    /// How many bytes it covers; never 0.
    pub len: u64,
    /// What they are.
    pub content: Content,
}

impl Extent {
    /// Where in the file it ends.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + self.len
    }

    /// The range of the file that it covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.offset..self.end()
    }

    /// Bytes of data it stands for: none for a hole.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        if matches!(self.content, Content::Hole) { 0 } else { self.len }
    }

    /// The segment its data lies in, if it lies in one.
    #[must_use]
    pub fn segment(&self) -> Option<SegmentId> {
        match &self.content {
            Content::Stored(run) => Some(run.segment),
            Content::Hole | Content::Inline(_) => None,
        }
    }

    /// The part of it within `range`, or `None` if they do not meet.
    #[must_use]
    pub fn slice(&self, range: &Range<u64>) -> Option<Self> {
        let start = self.offset.max(range.start);
        let end = self.end().min(range.end);
        if start >= end {
            return None;
        }
        let (skip, len) = (start - self.offset, end - start);
        let content = match &self.content {
            Content::Hole => Content::Hole,
            Content::Inline(bytes) => {
                let from = usize::try_from(skip).ok()?;
                let to = from.checked_add(usize::try_from(len).ok()?)?;
                Content::Inline(bytes.slice(from.min(bytes.len())..to.min(bytes.len())))
            }
            Content::Stored(run) => Content::Stored(run.slice(skip, len)),
        };
        Some(Self { offset: start, len, content })
    }

    /// The same content at another place of a file.
    #[must_use]
    pub fn at(self, offset: u64) -> Self {
        Self { offset, ..self }
    }
}

impl Run {
    /// The frames that hold the `len` bytes after the first `from` of this run.
    fn slice(&self, from: u64, len: u64) -> Self {
        let mut skip = u64::from(self.skip) + from;
        let mut stored_offset = self.stored_offset;
        let mut rest = self.frames.as_slice();
        while let Some((first, after)) = rest.split_first() {
            if skip < u64::from(first.data_len) {
                break;
            }
            skip -= u64::from(first.data_len);
            stored_offset = stored_offset.saturating_add(first.stored_len);
            rest = after;
        }
        let mut covered = 0;
        let frames = rest.iter().take_while(|frame| {
            let wanted = covered < skip + len;
            covered += u64::from(frame.data_len);
            wanted
        });
        Self {
            segment: self.segment,
            stored_offset,
            skip: u32::try_from(skip).unwrap_or(u32::MAX),
            frames: frames.copied().collect(),
        }
    }

    /// Bytes of data that the frames hold after `skip`.
    #[must_use]
    pub fn data_available(&self) -> u64 {
        let total: u64 = self.frames.iter().map(|frame| u64::from(frame.data_len)).sum();
        total.saturating_sub(u64::from(self.skip))
    }

    /// Bytes that the frames take in the segment.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.frames.iter().map(|frame| u64::from(frame.stored_len)).sum()
    }
}

#[cfg(test)]
mod tests;
