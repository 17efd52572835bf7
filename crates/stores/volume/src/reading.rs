//! Reading: layers in memory first, then published extents.

use crate::file::{File, Piece, Span, overlay};
use crate::published::zeros;
use crate::volume::Volume;
use bytes::Bytes;
use futures::future::try_join_all;
use std::ops::Range;
use std::sync::Arc;
use stoa_meta::{Content, Extent};
use stoa_vfs::{Error, Ino, Result, Seek};

/// How often a read starts again because the file changed under it.
const TRIES: usize = 16;

/// Bytes looked at in the first step while a hole or data is sought, and twice as many in each that follows: what was written to a file
/// lately may be very many pieces.
const SEEK_STEP: u64 = 1 << 30;

/// Extents looked at in one step: a hole is one, however long it is.
const SEEK_EXTENTS: usize = 1024;

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
            Some(Piece::Data(bytes)) => Ok(vec![bytes]),
            Some(Piece::Hole(len)) => Ok(zeros(len)),
            None => self.read_published(ino, span.range).await,
        };
        match <[Span; 1]>::try_from(spans) {
            Ok([only]) => read_span(only).await,
            Err(spans) => Ok(try_join_all(spans.into_iter().map(read_span)).await?.concat()),
        }
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
                    Some(Piece::Data(_)) => (what == Seek::Data).then_some(span.range.start),
                    Some(Piece::Hole(_)) => (what == Seek::Hole).then_some(span.range.start),
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
