//! Making the object of a draft.

use super::{Draft, Replaced, Sink, kept};
use crate::error::told;
use crate::extents::{Extents, Place};
use crate::found::Version;
use crate::layout::{Work, plan};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::GetRange;
use std::ops::Range;
use std::sync::Arc;
use stoa_cache::Reservation;
use stoa_objects::s3::{Condition, Read, Source, Written};
use stoa_vfs::{Error, Result};

/// What is shorter than this is one PUT, in bytes.
const PUT_BYTES_MAX: u64 = 8 << 20;

/// Zeros to send.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

impl Draft {
    /// Puts it into the store, if that does not have it; says which content it is then.
    ///
    /// # Errors
    /// Why that failed: it is said again, and nothing of it gets into the store any more.
    pub(crate) async fn publish(&mut self, sink: &Sink<'_>) -> Result<Option<Version>> {
        self.check()?;
        if !self.dirty || self.discarded {
            return Ok(None);
        }
        let made = self.make(sink, &self.condition()).await;
        if matches!(made, Err(Error::Stale)) {
            self.rescue(sink).await;
        }
        let written = self.unless_failed(made).await?;
        Ok(Some(self.is_stored(written)))
    }

    /// Has the server copy all of `content` into the store as this file, which has nothing in it so far. `None` if it is short, and sent
    /// as fast.
    ///
    /// # Errors
    /// Why that failed: the file is as it was.
    pub(crate) async fn copy(&mut self, sink: &Sink<'_>, content: &Version) -> Result<Option<Version>> {
        self.check()?;
        let size = content.size;
        if self.size() > 0 || self.discarded || size < PUT_BYTES_MAX {
            return Ok(None);
        }
        let if_match = content.etag.as_ref().map(ToString::to_string);
        let source = Source { key: content.key.to_string(), version: None, if_match };
        let written = super::copy(sink, &source, size, &self.key, &self.headers, &self.condition()).await?;
        self.extents = Extents::kept(size);
        Ok(Some(self.is_stored(written)))
    }

    /// What must hold for the object to be replaced.
    fn condition(&self) -> Condition {
        match &self.replaces {
            Some(replaced) => Condition::IfMatch(replaced.etag.to_string()),
            None => Condition::IfAbsent,
        }
    }

    /// The store has all of it.
    fn is_stored(&mut self, written: Written) -> Version {
        let etag = self.begins_with(written);
        self.forget_written();
        (self.dirty, self.filled) = (false, false);
        Version { key: Arc::clone(&self.key), etag: Some(etag), size: self.size(), draft: 0 }
    }

    /// What was made of it is what it replaces from now on, and keeps all of. Returns its tag.
    pub(super) fn begins_with(&mut self, written: Written) -> Arc<str> {
        let (key, etag, size): (_, Arc<str>, _) = (Arc::clone(&self.key), written.etag.into(), self.size());
        self.replaces = Some(Replaced { key, etag: Arc::clone(&etag), version: kept(written.version), size });
        (self.extents, self.parts) = (Extents::kept(size), None);
        etag
    }

    /// Makes the object.
    ///
    /// # Errors
    /// [`Error::Stale`] if the condition does not hold, or what is to be kept is gone.
    pub(super) async fn make(&mut self, sink: &Sink<'_>, condition: &Condition) -> Result<Written> {
        let done = match self.sent.is_empty() && self.size() < PUT_BYTES_MAX {
            true => self.put(sink, condition).await,
            false => self.assemble(sink, condition).await,
        };
        if let (Err(_), Some(parts)) = (&done, &mut self.parts) {
            // It may be tried again, and is not to be told then what went wrong now, which is known.
            let _ = parts.settle().await;
        }
        match done? {
            // What it was to replace is gone.
            Err(error) if error.is_not_found() => Err(Error::Stale),
            done => done.map_err(told),
        }
    }

    async fn put(&mut self, sink: &Sink<'_>, condition: &Condition) -> Result<stoa_objects::Result<Written>> {
        if let Some(parts) = self.parts.take() {
            parts.abort().await;
        }
        let data = self.gather(sink, 0..self.size()).await?;
        Ok(sink.s3.put(&self.key, data.into_iter().collect(), &self.headers, condition).await)
    }

    /// Has the server put together what is kept and what was changed.
    async fn assemble(&mut self, sink: &Sink<'_>, condition: &Condition) -> Result<stoa_objects::Result<Written>> {
        let pieces = plan(&mut self.extents, &sink.grid(), &self.sent).ok_or(Error::TooLarge)?;
        // A part that is on its way could take the place of another with its number.
        self.parts(sink).await?.settle().await.map_err(copy_failed)?;
        let source = self.source();
        for piece in &pieces {
            match (piece.work, &source) {
                (Work::Nothing, _) => {}
                (Work::Copy, Some(source)) => {
                    let parts = self.parts(sink).await?;
                    parts.copy(piece.number, source, piece.range.clone()).await.map_err(copy_failed)?;
                }
                _ => {
                    let loan = self.loan(sink, &piece.range).await?;
                    let data = self.gather(sink, piece.range.clone()).await?;
                    self.parts(sink).await?.send(piece.number, data, loan).await.map_err(copy_failed)?;
                }
            }
        }
        let numbers: Vec<u32> = pieces.iter().map(|piece| piece.number).collect();
        Ok(self.parts(sink).await?.complete(&numbers, condition).await)
    }

    /// The object that is replaced, as it was opened.
    fn source(&self) -> Option<Source> {
        let replaced = self.replaces.as_ref()?;
        let if_match = Some(replaced.etag.to_string());
        Some(Source { key: replaced.key.to_string(), version: replaced.version.clone(), if_match })
    }

    /// Memory for what of a range is fetched to be sent. Where there is none, it is fetched when nothing else is on its way: so much is used
    /// beside the budget for each file that is being stored.
    async fn loan(&mut self, sink: &Sink<'_>, range: &Range<u64>) -> Result<Option<Reservation>> {
        let fetched = |(range, place): (Range<u64>, Place)| match place {
            Place::Kept | Place::Spilled => range.end - range.start,
            Place::Zeros | Place::Held(_) | Place::Sent => 0,
        };
        let bytes = self.extents.runs(range.clone()).into_iter().map(fetched).sum();
        let loan = sink.budget.try_reserve(bytes);
        if loan.is_none() {
            self.parts(sink).await?.settle().await.map_err(copy_failed)?;
        }
        Ok(loan)
    }

    /// The bytes of a range, wherever they are.
    pub(super) async fn gather(&mut self, sink: &Sink<'_>, range: Range<u64>) -> Result<Vec<Bytes>> {
        let mut data = Vec::new();
        for (run, place) in self.extents.runs(range) {
            match (place, &self.spill, &self.replaces) {
                (Place::Held(bytes), ..) => data.push(bytes),
                (Place::Zeros, ..) => data.extend(zeros(run.end - run.start)),
                (Place::Spilled, Some(spill), _) => data.push(spill.read(run).await?),
                (Place::Kept, _, Some(replaced)) => data.extend(self.fetch(sink, replaced, run).await?),
                (place, ..) => {
                    return Err(Error::Io(format!("bytes {run:?} of {:?} are not here: {place:?}", self.key)));
                }
            }
        }
        Ok(data)
    }

    async fn fetch(&self, sink: &Sink<'_>, replaced: &Replaced, range: Range<u64>) -> Result<Vec<Bytes>> {
        let if_match = Some(replaced.etag.to_string());
        let read = Read { range: Some(GetRange::Bounded(range)), if_match, version: replaced.version.clone() };
        let got = sink.s3.get(&replaced.key, &read).await.map_err(copy_failed)?;
        got.body.try_collect().await.map_err(told)
    }
}

/// What is to be kept of an object that is gone, can't be.
fn copy_failed(error: stoa_objects::Error) -> Error {
    if error.is_not_found() { Error::Stale } else { told(error) }
}

/// So many zeros.
pub(super) fn zeros(len: u64) -> impl Iterator<Item = Bytes> {
    let step = ZEROS.len() as u64;
    (0..len).step_by(ZEROS.len()).map(move |at| {
        let len = usize::try_from(step.min(len - at)).unwrap_or(ZEROS.len());
        Bytes::from_static(&ZEROS).slice(..len)
    })
}
