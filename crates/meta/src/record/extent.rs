//! Extent records.

use super::{Malformed, Reader, Writer};
use crate::{Codec, Content, Extent, FrameRef, Run, SegmentId};
use ::bytes::Bytes;

const VERSION: u8 = 1;
const HOLE: u8 = 0;
const INLINE: u8 = 1;
const STORED: u8 = 2;

/// The record of an extent; its end is in the key.
#[must_use]
pub fn encode_extent(extent: &Extent) -> Bytes {
    let mut out = Writer::new(VERSION);
    match &extent.content {
        Content::Hole => {
            out.u8(HOLE);
            out.u64(extent.offset);
        }
        Content::Inline(bytes) => {
            out.u8(INLINE);
            out.u64(extent.offset);
            out.raw(bytes);
        }
        Content::Stored(run) => {
            out.u8(STORED);
            out.u64(extent.offset);
            out.u64(run.segment.0);
            out.u32(run.stored_offset);
            out.u32(run.skip);
            for frame in &run.frames {
                out.u32(frame.stored_len);
                out.u32(frame.data_len);
                out.u64(frame.checksum);
                out.u8(codec_number(frame.codec));
            }
        }
    }
    out.finish()
}

/// Reads the record of an extent that ends at `end`.
///
/// # Errors
/// [`Malformed`], also for frames that do not hold as much as the extent covers.
pub fn decode_extent(end: u64, value: Bytes) -> Result<Extent, Malformed> {
    let mut from = Reader::new(value, VERSION)?;
    let kind = from.u8()?;
    let offset = from.u64()?;
    let len =
        end.checked_sub(offset).filter(|len| *len > 0).ok_or(Malformed("an extent that ends before it starts"))?;
    let content = match kind {
        HOLE => {
            from.end()?;
            Content::Hole
        }
        INLINE => {
            let bytes = from.rest();
            if u64::try_from(bytes.len()) != Ok(len) {
                return Err(Malformed("an inline extent of the wrong length"));
            }
            // Of its own, as the names of entries.
            Content::Inline(Bytes::copy_from_slice(&bytes))
        }
        STORED => Content::Stored(decode_run(from, len)?),
        _ => return Err(Malformed("an extent of an unknown kind")),
    };
    Ok(Extent { offset, len, content })
}

fn decode_run(mut from: Reader, len: u64) -> Result<Run, Malformed> {
    let segment = SegmentId(from.u64()?);
    let (stored_offset, skip) = (from.u32()?, from.u32()?);
    let mut frames = Vec::new();
    while !from.is_empty() {
        let (stored_len, data_len, checksum) = (from.u32()?, from.u32()?, from.u64()?);
        let codec = codec_of(from.u8()?).ok_or(Malformed("a frame of an unknown codec"))?;
        frames.push(FrameRef { stored_len, data_len, checksum, codec });
    }
    let run = Run { segment, stored_offset, skip, frames };
    if run.data_available() < len || run.frames.first().is_none_or(|first| first.data_len <= skip) {
        return Err(Malformed("an extent whose frames do not cover it"));
    }
    Ok(run)
}

/// The number that stands for a codec in the format.
#[must_use]
pub fn codec_number(codec: Codec) -> u8 {
    match codec {
        Codec::Raw => 0,
        Codec::Zstd => 1,
    }
}

/// The codec that a number of the format stands for.
#[must_use]
pub fn codec_of(number: u8) -> Option<Codec> {
    match number {
        0 => Some(Codec::Raw),
        1 => Some(Codec::Zstd),
        _ => None,
    }
}
