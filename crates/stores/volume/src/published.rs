//! Published extents: their bytes, through the cache, what is fetched ahead of a reader, and what is given up behind.

use crate::layout::segment_path;
use crate::segment::decode;
use crate::volume::Volume;
use crate::writing::Open;
use bytes::Bytes;
use futures::future::try_join_all;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use stoa_cache::{Decode, Object, Piece};
use stoa_meta::{Content, Extent, FrameRef, Run, SegmentId};
use stoa_vfs::{Error, Ino, Result};

static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

impl Volume {
    /// The published bytes of a range.
    pub(crate) async fn read_published(&self, ino: Ino, range: Range<u64>) -> Result<Vec<Bytes>> {
        let extents = self.meta.extents(ino, range.clone()).await?;
        if extents.last().is_none_or(|last| last.end() < range.end) {
            return Err(Error::Corrupt(format!("inode {ino} ends before offset {}", range.end)));
        }
        self.read_extents(&extents).await
    }

    /// The bytes of extents, one after the other.
    pub(crate) async fn read_extents(&self, extents: &[Extent]) -> Result<Vec<Bytes>> {
        Ok(self.read_each(extents).await?.concat())
    }

    /// The bytes of each extent. Those that lie in one segment are asked for together: what random writes scattered in a file lies in
    /// order in each segment that they went to.
    pub(crate) async fn read_each(&self, extents: &[Extent]) -> Result<Vec<Vec<Bytes>>> {
        let mut parts: Vec<Vec<Bytes>> = extents.iter().map(unstored).collect();
        let mut stored: Vec<(usize, &Extent, &Run)> = extents.iter().enumerate().filter_map(stored).collect();
        stored.sort_by_key(|(.., run)| run.segment);
        let reads = stored.chunk_by(|(.., one), (.., next)| one.segment == next.segment);
        for (at, bytes) in try_join_all(reads.map(|together| self.read_together(together))).await?.into_iter().flatten()
        {
            if let Some(part) = parts.get_mut(at) {
                *part = bytes;
            }
        }
        Ok(parts)
    }

    /// The bytes of extents of one segment, each with the number it was given.
    async fn read_together(&self, extents: &[(usize, &Extent, &Run)]) -> Result<Vec<(usize, Vec<Bytes>)>> {
        let Some((_, first, run)) = extents.first() else { return Ok(Vec::new()) };
        self.fetch_neighbours(run, first.offset);
        let (object, pieces, decoder) = request(run.segment, extents.iter().flat_map(|(.., run)| placed(run)));
        let frames = self.cache.read(&object, &pieces, decoder).await.map_err(unread)?;
        let mut frames = frames.into_iter();
        let part = |(at, extent, run): &(usize, &Extent, &Run)| {
            let frames = frames.by_ref().take(run.frames.len());
            Ok((*at, part_of(frames, u64::from(run.skip), extent.len).ok_or_else(|| too_few(run))?))
        };
        extents.iter().map(part).collect()
    }

    /// Fetches what a reader is going to want.
    pub(crate) async fn read_ahead(&self, open: &Open, range: Range<u64>) {
        let _alive = self.reads.begin();
        let ino = open.file.ino;
        // Whatever is wrong is found, and told, by a read.
        let extents = self.meta.extents(ino, range).await.unwrap_or_default();
        open.read_ahead.found_scattered(self.log.fragmented.found(ino, &extents, self.is_read_only()));
        let mut runs: Vec<&Run> = extents.iter().filter_map(run_of).collect();
        // What is needed first is asked for first: the sort is stable.
        let mut first_use = HashMap::new();
        for (at, run) in runs.iter().enumerate() {
            first_use.entry(run.segment).or_insert(at);
        }
        runs.sort_by_key(|run| first_use.get(&run.segment).copied());
        for runs in runs.chunk_by(|one, next| one.segment == next.segment) {
            let Some(first) = runs.first() else { continue };
            let (object, pieces, decoder) = request(first.segment, runs.iter().copied().flat_map(placed));
            self.cache.prefetch(object, pieces, decoder);
        }
    }

    /// Gives up what a long sequential reader has passed: whoever reads it again is served by the cache of the door, and the memory it was
    /// in is used for what comes next.
    pub(crate) async fn release_passed(&self, open: &Open) {
        if open.uncached {
            return;
        }
        let Some(range) = open.read_ahead.behind() else { return };
        let extents = self.meta.extents(open.file.ino, range).await.unwrap_or_default();
        for run in extents.iter().filter_map(run_of) {
            self.cache.release(u128::from(run.segment.0), placed(run).map(|(offset, _)| offset.into()));
        }
    }
}

fn run_of(extent: &Extent) -> Option<&Run> {
    match &extent.content {
        Content::Stored(run) => Some(run),
        Content::Hole | Content::Inline(_) => None,
    }
}

fn stored((at, extent): (usize, &Extent)) -> Option<(usize, &Extent, &Run)> {
    run_of(extent).map(|run| (at, extent, run))
}

/// The bytes of an extent, if it needs no segment for them.
fn unstored(extent: &Extent) -> Vec<Bytes> {
    match &extent.content {
        Content::Hole => zeros(extent.len),
        Content::Inline(bytes) => vec![bytes.clone()],
        Content::Stored(_) => Vec::new(),
    }
}

/// So many bytes of frames, without the first ones. `None` if there are too few.
fn part_of(frames: impl Iterator<Item = Bytes>, mut skip: u64, len: u64) -> Option<Vec<Bytes>> {
    let (mut left, mut parts) = (len, Vec::with_capacity(frames.size_hint().0));
    for frame in frames {
        let size = u64::try_from(frame.len()).unwrap_or(u64::MAX);
        let (from, to) = (skip.min(size), skip.saturating_add(left).min(size));
        skip -= from;
        left -= to - from;
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        parts.push(frame.slice(at(from)..at(to)));
    }
    (left == 0).then_some(parts)
}

/// What it means that frames can't be had. That a segment is missing or too short is damage too: nobody but this volume deletes them.
fn unread(error: stoa_cache::Error) -> Error {
    let text = error.to_string();
    let missing = |error: &Arc<dyn std::error::Error + Send + Sync>| {
        matches!(error.downcast_ref(), Some(object_store::Error::NotFound { .. }))
    };
    match error {
        stoa_cache::Error::Corrupt { .. } | stoa_cache::Error::Short { .. } => Error::Corrupt(text),
        stoa_cache::Error::Store(error) if missing(&error) => Error::Corrupt(text),
        _ => Error::Io(text),
    }
}

fn too_few(run: &Run) -> Error {
    Error::Corrupt(format!("segment {} holds too few bytes of an extent", run.segment))
}

/// What to ask the cache for: frames of a segment, by where in it they are.
pub(crate) fn request(
    segment: SegmentId,
    frames: impl Iterator<Item = (u32, FrameRef)>,
) -> (Object, Vec<Piece>, Arc<dyn Decode>) {
    let object = Object { id: u128::from(segment.0), key: segment_path(segment).as_ref().into(), etag: None };
    let piece = |(offset, frame): (u32, FrameRef)| {
        let piece = Piece { offset: u64::from(offset), len: frame.stored_len, weight: frame.data_len };
        (piece, frame)
    };
    let (pieces, frames) = frames.map(piece).unzip();
    (object, pieces, Arc::new(Frames(frames)))
}

/// The frames of a run, with where they are in the segment.
fn placed(run: &Run) -> impl Iterator<Item = (u32, FrameRef)> + '_ {
    run.frames.iter().scan(run.stored_offset, |next, frame| {
        let offset = *next;
        *next = next.saturating_add(frame.stored_len);
        Some((offset, *frame))
    })
}

/// Decodes frames that were asked for together.
struct Frames(Vec<FrameRef>);

impl Decode for Frames {
    fn decode(&self, index: usize, stored: Bytes) -> std::result::Result<Bytes, String> {
        decode(self.0.get(index).ok_or("there is no such frame")?, stored)
    }
}

pub(crate) fn zeros(len: u64) -> Vec<Bytes> {
    let chunk = Bytes::from_static(&ZEROS);
    let chunk_len = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
    let mut parts = Vec::new();
    let mut left = len;
    while left > 0 {
        let part = left.min(chunk_len);
        parts.push(chunk.slice(..usize::try_from(part).unwrap_or(chunk.len())));
        left -= part;
    }
    parts
}
