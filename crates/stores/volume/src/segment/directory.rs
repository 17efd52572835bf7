//! The directory of a segment: what makes it readable without the namespace.

use super::{FOOTER_MAGIC, HEADER_BYTES, checksum};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use stoa_meta::FrameRef;
use stoa_meta::record::{codec_number, codec_of};
use stoa_vfs::Ino;

const ENTRY_BYTES: usize = 37;
const FOOTER_BYTES: usize = 28;

/// Read at the end of a segment at first: enough for the directory of most.
const TAIL_BYTES: u64 = 32 << 10;

/// Whose a frame is, as the segment itself says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DirectoryEntry {
    /// The file it was written for.
    pub(crate) ino: Ino,
    /// Where in that file.
    pub(crate) file_offset: u64,
    /// Where in the segment.
    pub(crate) stored_offset: u32,
    pub(crate) frame: FrameRef,
}

/// All frames of a segment, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Directory {
    pub(crate) entries: Vec<DirectoryEntry>,
}

impl Directory {
    /// The directory and the footer, for a segment whose frames end at `offset`.
    pub(crate) fn encode(&self, offset: u64) -> Bytes {
        let mut out = BytesMut::with_capacity(self.entries.len() * ENTRY_BYTES + FOOTER_BYTES);
        for entry in &self.entries {
            out.put_u64_le(entry.ino.0);
            out.put_u64_le(entry.file_offset);
            out.put_u32_le(entry.stored_offset);
            out.put_u32_le(entry.frame.stored_len);
            out.put_u32_le(entry.frame.data_len);
            out.put_u64_le(entry.frame.checksum);
            out.put_u8(codec_number(entry.frame.codec));
        }
        let sum = checksum([out.as_ref()]);
        out.put_u64_le(offset);
        out.put_u32_le(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        out.put_u64_le(sum);
        out.put_slice(FOOTER_MAGIC);
        out.freeze()
    }

    /// Reads the directory of the segment at `path`, which is `size` bytes long.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) async fn read(store: &dyn ObjectStore, path: &Path, size: u64) -> Result<Self, ReadError> {
        let tail_start = size.saturating_sub(TAIL_BYTES);
        let mut tail = store.get_range(path, tail_start..size).await?;
        let footer = Footer::parse(&tail)?;
        if footer.directory_start < tail_start {
            let missing = store.get_range(path, footer.directory_start..tail_start).await?;
            tail = [missing, tail].concat().into();
        } else {
            tail.advance(usize::try_from(footer.directory_start - tail_start).unwrap_or(usize::MAX).min(tail.len()));
        }
        Self::decode(tail, &footer)
    }

    /// Whether the frames lie back to back between the header and this directory, in a segment of `size` bytes.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] if they do not.
    pub(crate) fn check_layout(&self, size: u64) -> Result<(), ReadError> {
        let own = u64::try_from(self.entries.len() * ENTRY_BYTES + FOOTER_BYTES).unwrap_or(u64::MAX);
        let mut end = u64::try_from(HEADER_BYTES).unwrap_or(u64::MAX);
        for entry in &self.entries {
            if u64::from(entry.stored_offset) != end {
                return Err(ReadError::Corrupt("its frames do not lie back to back"));
            }
            end += u64::from(entry.frame.stored_len);
        }
        if size.checked_sub(own) != Some(end) {
            return Err(ReadError::Corrupt("its frames do not end where its directory starts"));
        }
        Ok(())
    }

    /// Bytes of file data in all frames.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.entries.iter().map(|entry| u64::from(entry.frame.data_len)).sum()
    }

    fn decode(bytes: Bytes, footer: &Footer) -> Result<Self, ReadError> {
        let len = footer.entries.checked_mul(ENTRY_BYTES).ok_or(ReadError::Corrupt("its directory is too long"))?;
        if bytes.len() != len + FOOTER_BYTES {
            return Err(ReadError::Corrupt("its directory has the wrong length"));
        }
        let mut rest = bytes.slice(..len);
        if checksum([rest.as_ref()]) != footer.checksum {
            return Err(ReadError::Corrupt("the checksum of its directory is wrong"));
        }
        let mut entries = Vec::with_capacity(footer.entries);
        while rest.remaining() >= ENTRY_BYTES {
            let (ino, file_offset, stored_offset) = (Ino(rest.get_u64_le()), rest.get_u64_le(), rest.get_u32_le());
            let (stored_len, data_len, checksum) = (rest.get_u32_le(), rest.get_u32_le(), rest.get_u64_le());
            let codec = codec_of(rest.get_u8()).ok_or(ReadError::Corrupt("a frame of an unknown codec"))?;
            let frame = FrameRef { stored_len, data_len, checksum, codec };
            entries.push(DirectoryEntry { ino, file_offset, stored_offset, frame });
        }
        Ok(Self { entries })
    }
}

/// Why a directory can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Store(#[from] object_store::Error),
    #[error("{0}")]
    Corrupt(&'static str),
}

#[derive(Debug)]
struct Footer {
    directory_start: u64,
    entries: usize,
    checksum: u64,
}

impl Footer {
    fn parse(tail: &Bytes) -> Result<Self, ReadError> {
        let start = tail.len().checked_sub(FOOTER_BYTES).ok_or(ReadError::Corrupt("it is cut short"))?;
        let mut footer = tail.slice(start..);
        let (directory_start, entries, checksum) = (footer.get_u64_le(), footer.get_u32_le(), footer.get_u64_le());
        if footer.as_ref() != FOOTER_MAGIC || directory_start < HEADER_BYTES as u64 {
            return Err(ReadError::Corrupt("its footer is not one of a segment"));
        }
        let entries = usize::try_from(entries).map_err(|_| ReadError::Corrupt("its directory is too long"))?;
        Ok(Self { directory_start, entries, checksum })
    }
}
