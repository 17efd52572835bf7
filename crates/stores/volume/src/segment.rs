//! Segments: immutable objects that hold frames of many files, and say themselves whose they are. FORMAT.md, "Segments".
//!
//! ```text
//! header     8 bytes "STOASEG1", 8 bytes segment number
//! frames     back to back
//! directory  one entry a frame: whose it is, where in the file, where here, how stored, checksum
//! footer     offset and entries of the directory, its checksum, 8 bytes "STOAEND1"
//! ```

mod builder;
mod directory;
mod frame;
mod header;

pub(crate) use builder::{Builder, Sealed};
pub(crate) use directory::{Directory, DirectoryEntry, ReadError};
pub(crate) use frame::{Encoded, FRAME_BYTES, decode, encode};
pub(crate) use header::check_header;

/// Segments are sealed when they hold this many bytes of frames, and the stretch of data ends that is being added;
pub(crate) const SEGMENT_BYTES: u64 = 16 << 20;

/// or this many, or more by less than one frame.
const SEGMENT_BYTES_MAX: u64 = 24 << 20;

/// Bytes before the first frame.
const HEADER_BYTES: usize = 16;

const HEADER_MAGIC: &[u8] = b"STOASEG1";
const FOOTER_MAGIC: &[u8; 8] = b"STOAEND1";

/// The checksum of everything in the format: CRC-64/NVME.
pub(crate) fn checksum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc64Nvme);
    for part in parts {
        digest.update(part);
    }
    digest.finalize()
}

#[cfg(test)]
mod tests;
