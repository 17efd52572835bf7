//! Reading: layers in memory first, then published extents, through the cache.

use crate::file::{File, Piece as LayerPiece, Span, overlay};
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
use stoa_vfs::{Error, Ino, Result, Seek};

/// How often a read starts again because the file changed under it.
const TRIES: usize = 16;

/// Bytes looked at in the first step while a hole or data is sought, and twice as many in each that follows: what was written to a file
/// lately may be very many pieces.
const SEEK_STEP: u64 = 1 << 30;

/// Extents looked at in one step: a hole is one, however long it is.
const SEEK_EXTENTS: usize = 1024;

static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

impl Volume {
    /// Up to `size` bytes at `offset`: fewer only at the end.
    pub(crate) async fn read_file(&self, file: &Arc<File>, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        let _steady = file.gate.read().await;
        let _alive = self.reads.begin();
        let wanted = u64::try_from(size).unwrap_or(u64::MAX);
        let mut tries = 0;
        loop {
            let (spans, generation) = {
                let state = file.lock();
                state.check()?;
                let end = offset.saturating_add(wanted).min(state.size);
                if offset >= end {
                    return Ok(Vec::new());
                }
                (overlay(&state, offset..end), state.generation)
            };
            match self.read_spans(file.ino, spans).await {
                // What showed through the layers may have been cut, or published, meanwhile.
                Err(Error::Corrupt(_)) if tries < TRIES && file.lock().generation != generation => tries += 1,
                Err(error) => {
                    if error.is_fault() {
                        self.note(&error);
                    }
                    return Err(error);
                }
                Ok(parts) => return Ok(parts),
            }
        }
    }

    async fn read_spans(&self, ino: Ino, spans: Vec<Span>) -> Result<Vec<Bytes>> {
        let read_span = async |span: Span| match span.piece {
            Some(LayerPiece::Data(bytes)) => Ok(vec![bytes]),
            Some(LayerPiece::Hole(len)) => Ok(zeros(len)),
            None => self.read_published(ino, span.range).await,
        };
        match <[Span; 1]>::try_from(spans) {
            Ok([only]) => read_span(only).await,
            Err(spans) => Ok(try_join_all(spans.into_iter().map(read_span)).await?.concat()),
        }
    }

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
        let read_extent = async |extent: &Extent| match &extent.content {
            Content::Hole => Ok(zeros(extent.len)),
            Content::Inline(bytes) => Ok(vec![bytes.clone()]),
            Content::Stored(run) => self.read_run(run, extent.offset, extent.len).await,
        };
        match extents {
            [only] => read_extent(only).await,
            many => Ok(try_join_all(many.iter().map(read_extent)).await?.concat()),
        }
    }

    async fn read_run(&self, run: &Run, file_offset: u64, len: u64) -> Result<Vec<Bytes>> {
        self.fetch_neighbours(run, file_offset);
        let (object, pieces, decoder) = request(run.segment, placed(run));
        let frames = self.cache.read(&object, &pieces, decoder).await.map_err(|error| match error {
            stoa_cache::Error::Corrupt { .. } => Error::Corrupt(error.to_string()),
            error => Error::Io(error.to_string()),
        })?;
        let (mut skip, mut left) = (u64::from(run.skip), len);
        let mut parts = Vec::with_capacity(frames.len());
        for frame in frames {
            let size = u64::try_from(frame.len()).unwrap_or(u64::MAX);
            let (from, to) = (skip.min(size), skip.saturating_add(left).min(size));
            skip -= from;
            left -= to - from;
            let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
            parts.push(frame.slice(at(from)..at(to)));
        }
        if left > 0 {
            return Err(Error::Corrupt(format!("segment {} holds {left} bytes too few of an extent", run.segment)));
        }
        Ok(parts)
    }

    /// Fetches what a reader is going to want.
    pub(crate) async fn read_ahead(&self, ino: Ino, range: Range<u64>) {
        let _alive = self.reads.begin();
        let mut runs = self.runs(ino, range).await;
        // What random writes scattered lies in order in each segment they went to, and comes with one request from there. What is needed
        // first is asked for first: the sort is stable.
        let mut first_use = HashMap::new();
        for (at, run) in runs.iter().enumerate() {
            first_use.entry(run.segment).or_insert(at);
        }
        runs.sort_by_key(|run| first_use.get(&run.segment).copied());
        for runs in runs.chunk_by(|one, next| one.segment == next.segment) {
            let Some(first) = runs.first() else { continue };
            let (object, pieces, decoder) = request(first.segment, runs.iter().flat_map(placed));
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
        for run in self.runs(open.file.ino, range).await {
            self.cache.release(u128::from(run.segment.0), placed(&run).map(|(offset, _)| offset.into()));
        }
    }

    /// The stored parts of a range, for what is done ahead or behind of reads: whatever is wrong is found, and told, by a read.
    async fn runs(&self, ino: Ino, range: Range<u64>) -> Vec<Run> {
        let stored = |extent: Extent| match extent.content {
            Content::Stored(run) => Some(run),
            Content::Hole | Content::Inline(_) => None,
        };
        let extents = self.meta.extents(ino, range).await.unwrap_or_default();
        extents.into_iter().filter_map(stored).collect()
    }

    /// The next data, or hole, at or after `offset`.
    pub(crate) async fn seek_file(&self, file: &Arc<File>, offset: u64, what: Seek) -> Result<u64> {
        let _steady = file.gate.read().await;
        let (mut next, mut step) = (offset, SEEK_STEP);
        loop {
            let spans = {
                let state = file.lock();
                if offset >= state.size {
                    return Err(Error::NoOffset);
                }
                if next >= state.size {
                    return if what == Seek::Hole { Ok(state.size) } else { Err(Error::NoOffset) };
                }
                overlay(&state, next..next.saturating_add(step).min(state.size))
            };
            for span in spans {
                let found = match span.piece {
                    Some(LayerPiece::Data(_)) => (what == Seek::Data).then_some(span.range.start),
                    Some(LayerPiece::Hole(_)) => (what == Seek::Hole).then_some(span.range.start),
                    None => self.seek_published(file.ino, span.range.clone(), what).await?,
                };
                if let Some(found) = found {
                    return Ok(found);
                }
                next = span.range.end;
            }
            step = step.saturating_mul(2);
        }
    }

    async fn seek_published(&self, ino: Ino, range: Range<u64>, what: Seek) -> Result<Option<u64>> {
        let is_wanted = |extent: &&Extent| matches!(extent.content, Content::Hole) == (what == Seek::Hole);
        let mut next = range.start;
        while next < range.end {
            let extents = self.meta.extents_from(ino, next, SEEK_EXTENTS).await?;
            if let Some(found) = extents.iter().find(is_wanted) {
                return Ok(Some(found.offset.max(next)).filter(|found| *found < range.end));
            }
            let Some(last) = extents.last() else { break };
            next = last.end();
        }
        // A part that was published as cut meanwhile reads as a hole.
        Ok((next < range.end && what == Seek::Hole).then_some(next))
    }
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

fn zeros(len: u64) -> Vec<Bytes> {
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
