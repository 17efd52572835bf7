//! Segment records and the superblock.

use super::{Malformed, Reader, Writer};
use ::bytes::Bytes;

const VERSION: u8 = 1;

/// A segment as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentRecord {
    /// Bytes of the object.
    pub stored_bytes: u64,
    /// Bytes of file data in it.
    pub data_bytes: u64,
    /// Bytes of extents that lie in it.
    pub live_bytes: u64,
}

impl SegmentRecord {
    /// The record.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Writer::new(VERSION);
        out.u64(self.stored_bytes);
        out.u64(self.data_bytes);
        out.u64(self.live_bytes);
        out.finish()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(value: Bytes) -> Result<Self, Malformed> {
        let mut from = Reader::new(value, VERSION)?;
        let record = Self { stored_bytes: from.u64()?, data_bytes: from.u64()?, live_bytes: from.u64()? };
        from.end()?;
        Ok(record)
    }
}

/// What holds for the namespace as a whole; written with every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Superblock {
    /// The next inode number.
    pub next_ino: u64,
    /// Inodes that exist.
    pub inodes: u64,
    /// Bytes of file data, holes not counted.
    pub data_bytes: u64,
    /// Whether an inode may have a label of SELinux.
    pub labelled: bool,
}

impl Superblock {
    /// The record.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Writer::new(VERSION);
        out.u64(self.next_ino);
        out.u64(self.inodes);
        out.u64(self.data_bytes);
        out.u8(self.labelled.into());
        out.finish()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(value: Bytes) -> Result<Self, Malformed> {
        let mut from = Reader::new(value, VERSION)?;
        let (next_ino, inodes, data_bytes) = (from.u64()?, from.u64()?, from.u64()?);
        // One without this byte is of a volume that took no note of labels.
        let labelled = from.is_empty() || from.u8()? != 0;
        from.end()?;
        Ok(Self { next_ino, inodes, data_bytes, labelled })
    }
}
