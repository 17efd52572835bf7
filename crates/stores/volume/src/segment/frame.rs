//! Frames: pieces of file data, compressed where that helps.

use super::checksum;
use bytes::Bytes;
use std::cell::RefCell;
use stoa_meta::{Codec, FrameRef};
use zstd::bulk::{Compressor, Decompressor};

/// The most file data in one frame; frames end at multiples of it in the file, so that a small read fetches one.
pub(crate) const FRAME_BYTES: u64 = 128 << 10;

/// A frame is stored compressed when that saves at least one part in this many.
const SAVING: usize = 16;

/// A frame ready to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    pub(crate) frame: FrameRef,
    /// The stored bytes: for a frame stored as it is, the very buffers that the program's data came in.
    pub(crate) parts: Vec<Bytes>,
}

/// Makes a frame of `parts`, [`FRAME_BYTES`] of data at most. Takes processor time: some 0.5 ms for a full one.
pub(crate) fn encode(parts: Vec<Bytes>, compression_level: u8) -> Encoded {
    let data_len: usize = parts.iter().map(Bytes::len).sum();
    let sum = checksum(parts.iter().map(Bytes::as_ref));
    let compressed = compress(&parts, data_len, compression_level);
    let (codec, parts) = match compressed {
        Some(bytes) => (Codec::Zstd, vec![bytes]),
        None => (Codec::Raw, parts),
    };
    let stored_len: usize = parts.iter().map(Bytes::len).sum();
    let frame = FrameRef { stored_len: length(stored_len), data_len: length(data_len), checksum: sum, codec };
    Encoded { frame, parts }
}

thread_local! {
    /// Setting one up takes longer than a small frame does.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn compress(parts: &[Bytes], data_len: usize, level: u8) -> Option<Bytes> {
    if level == 0 {
        return None;
    }
    let most = data_len - data_len / SAVING;
    let compressed = COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(i32::from(level))?),
        };
        compressor.set_compression_level(i32::from(level))?;
        match parts {
            [one] => compressor.compress(one),
            many => compressor.compress(&many.concat()),
        }
    });
    compressed.ok().filter(|bytes: &Vec<u8>| bytes.len() < most).map(Bytes::from)
}

fn decompress(stored: &[u8], data_len: usize) -> std::io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        };
        decompressor.decompress(stored, data_len)
    })
}

/// Gets the data of a frame back, and checks it against what the program wrote.
///
/// # Errors
/// What is wrong, if the stored bytes are not those that were written.
pub(crate) fn decode(frame: &FrameRef, stored: Bytes) -> Result<Bytes, String> {
    if stored.len() != size(frame.stored_len) {
        return Err(format!("{} bytes instead of {}", stored.len(), frame.stored_len));
    }
    let data = match frame.codec {
        Codec::Raw => stored,
        Codec::Zstd => {
            let data = decompress(&stored, size(frame.data_len));
            data.map(Bytes::from).map_err(|error| format!("it can't be decompressed ({error})"))?
        }
    };
    if data.len() != size(frame.data_len) || checksum([data.as_ref()]) != frame.checksum {
        return Err("its checksum is wrong".into());
    }
    Ok(data)
}

/// Frames are far below 4 GiB; a length that were not would fail its check when it is read.
fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

fn size(len: u32) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
