//! Filling a segment.

use super::header::header;
use super::{Directory, DirectoryEntry, Encoded, SEGMENT_BYTES, SEGMENT_BYTES_MAX};
use bytes::Bytes;
use stoa_meta::{NewSegment, SegmentId};
use stoa_vfs::Ino;

/// A segment being filled.
#[derive(Debug)]
pub(crate) struct Builder {
    id: SegmentId,
    parts: Vec<Bytes>,
    stored_bytes: u64,
    data_bytes: u64,
    directory: Directory,
}

/// A segment ready to be uploaded.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) segment: NewSegment,
    /// The object, in pieces.
    pub(crate) parts: Vec<Bytes>,
}

impl Builder {
    pub(crate) fn new(id: SegmentId) -> Self {
        let header = header(id);
        let stored_bytes = u64::try_from(header.len()).unwrap_or(0);
        Self { id, parts: vec![header], stored_bytes, data_bytes: 0, directory: Directory::default() }
    }

    pub(crate) fn id(&self) -> SegmentId {
        self.id
    }

    /// Whether it is as large as segments are.
    pub(crate) fn is_full(&self) -> bool {
        self.stored_bytes >= SEGMENT_BYTES
    }

    /// Whether not even the rest of a stretch of data goes into it that has begun in it.
    pub(crate) fn is_overfull(&self) -> bool {
        self.stored_bytes >= SEGMENT_BYTES_MAX
    }

    /// Adds a frame of a file; returns where in the segment it is.
    pub(crate) fn add(&mut self, ino: Ino, file_offset: u64, encoded: Encoded) -> u32 {
        let stored_offset = u32::try_from(self.stored_bytes).unwrap_or(u32::MAX);
        self.directory.entries.push(DirectoryEntry { ino, file_offset, stored_offset, frame: encoded.frame });
        self.stored_bytes += u64::from(encoded.frame.stored_len);
        self.data_bytes += u64::from(encoded.frame.data_len);
        self.parts.extend(encoded.parts);
        stored_offset
    }

    pub(crate) fn seal(mut self) -> Sealed {
        let tail = self.directory.encode(self.stored_bytes);
        self.stored_bytes += u64::try_from(tail.len()).unwrap_or(0);
        self.parts.push(tail);
        let segment = NewSegment { id: self.id, stored_bytes: self.stored_bytes, data_bytes: self.data_bytes };
        Sealed { segment, parts: self.parts }
    }
}
