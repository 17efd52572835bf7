//! What of a segment extents name: kept small, since there are as many as there are extents.

use crate::segment::checksum;
use std::collections::BTreeSet;
use stoa_meta::record::codec_number;
use stoa_meta::{FrameRef, Run};
use stoa_vfs::Ino;

/// An extent that lies in a segment. Its frames are not kept: whether they are those of the segment's directory can be told
/// from their checksum.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) ino: Ino,
    /// Where in the file it is.
    pub(super) offset: u64,
    pub(super) stored_offset: u32,
    frames: u32,
    digest: u64,
}

impl Reference {
    pub(super) fn new(ino: Ino, offset: u64, run: &Run) -> Self {
        let frames = run.frames.len().try_into().unwrap_or(u32::MAX);
        Self { ino, offset, stored_offset: run.stored_offset, frames, digest: digest(&run.frames) }
    }

    /// How many frames it names.
    pub(super) fn frames(&self) -> usize {
        self.frames.try_into().unwrap_or(usize::MAX)
    }

    /// Whether it names just these frames.
    pub(super) fn is_of<'a>(&self, frames: impl IntoIterator<Item = &'a FrameRef>) -> bool {
        digest(frames) == self.digest
    }
}

fn digest<'a>(frames: impl IntoIterator<Item = &'a FrameRef>) -> u64 {
    let mut bytes = Vec::new();
    for frame in frames {
        bytes.extend_from_slice(&frame.stored_len.to_le_bytes());
        bytes.extend_from_slice(&frame.data_len.to_le_bytes());
        bytes.extend_from_slice(&frame.checksum.to_le_bytes());
        bytes.push(codec_number(frame.codec));
    }
    checksum([bytes.as_slice()])
}

/// All extents that lie in one segment.
#[derive(Debug, Default)]
pub(super) struct References {
    pub(super) extents: Vec<Reference>,
    /// The sum of their lengths.
    pub(super) live_bytes: u64,
}

impl References {
    pub(super) fn add(&mut self, reference: Reference, len: u64) {
        self.extents.push(reference);
        self.live_bytes = self.live_bytes.saturating_add(len);
    }

    /// The files that have data in the segment.
    pub(super) fn inodes(&self) -> BTreeSet<Ino> {
        self.extents.iter().map(|reference| reference.ino).collect()
    }

    /// The files that have data in the segment, for a message.
    pub(super) fn whose(&self) -> String {
        const SHOWN_MAX: usize = 10;
        let inodes = self.inodes();
        if inodes.is_empty() {
            return "no file".into();
        }
        let shown: Vec<String> = inodes.iter().take(SHOWN_MAX).map(Ino::to_string).collect();
        let more = inodes.len().saturating_sub(SHOWN_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("inodes {}{more}", shown.join(", "))
    }
}
