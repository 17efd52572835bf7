//! What is being written to one object: ranges of the one before that are kept, and what was written since.
//!
//! Nothing of it is in the store before it is published; then all of it is, at once. What was written stays in memory, as far as there
//! is any, and then in a spill file. Parts of the file that have been written to their end are sent meanwhile. Those of a file that is
//! written in order, and not read, are not kept here after that: nothing but the upload has them ([`Place::Sent`]).

mod assemble;
mod view;

pub(crate) use view::Seen;

use crate::error::told;
use crate::extents::{Extents, Place};
use crate::found::Version;
use crate::layout::{Cell, Grid};
use crate::metadata;
use crate::parts::Parts;
use crate::spill::Spill;
use bytes::Bytes;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use stoa_cache::{Budget, Reservation};
use stoa_objects::s3::{Headers, ObjectInfo, S3Bucket};
use stoa_vfs::{Error, Result, SetAttr};

/// The longest object of S3, in bytes.
const OBJECT_BYTES_MAX: u64 = 5 << 40;

/// A file that is open for writing.
#[derive(Debug)]
pub(crate) struct Draft {
    key: Arc<str>,
    /// What the new object carries.
    headers: Headers,
    /// The content that it replaces; none, if there must not be any.
    replaces: Option<Replaced>,
    extents: Extents,
    /// The place in the budget of what is in memory.
    held: Option<Reservation>,
    spill: Option<Spill>,
    parts: Option<Parts>,
    /// The cells whose parts are as they should be.
    sent: BTreeSet<u32>,
    /// The cells of which a part was sent at any time. None is sent again before the end: a program that comes back to it once will do
    /// so again.
    begun: BTreeSet<u32>,
    /// What was sent may be needed again: it is read, or written again.
    returns: bool,
    dirty: bool,
    /// Whether there is anything to store but that it was made, or cut to nothing.
    filled: bool,
    /// It has no name any more: what is written to it goes nowhere.
    discarded: bool,
    /// Why it can't be published any more.
    failed: Option<Error>,
    /// Open handles that write.
    pub(crate) writers: u32,
}

/// The content that a draft begins with.
#[derive(Debug, Clone)]
struct Replaced {
    etag: Arc<str>,
    /// Which version it is, where the bucket keeps versions.
    version: Option<String>,
    size: u64,
}

/// Where data go while a draft grows.
pub(crate) struct Sink<'b> {
    pub(crate) s3: &'b S3Bucket,
    /// Memory for what is written.
    pub(crate) budget: &'b Budget,
    /// Where it goes if there is none.
    pub(crate) spill_dir: &'b Arc<Path>,
}

impl Draft {
    /// Of a file that is not in the store yet.
    pub(crate) fn new(key: Arc<str>) -> Self {
        Self {
            key,
            headers: Headers::default(),
            replaces: None,
            extents: Extents::default(),
            held: None,
            spill: None,
            parts: None,
            sent: BTreeSet::new(),
            begun: BTreeSet::new(),
            returns: false,
            dirty: true,
            filled: false,
            discarded: false,
            failed: None,
            writers: 0,
        }
    }

    /// Of an object that is there, as it was just asked about itself.
    pub(crate) fn of(version: &Version, info: ObjectInfo) -> Self {
        let mut headers = info.headers;
        // It was the time of the content that goes.
        headers.metadata.remove("mtime");
        let etag = version.etag.clone();
        let replaces = etag.map(|etag| Replaced { etag, version: info.version, size: version.size });
        let draft = Self::new(Arc::clone(&version.key));
        Self { headers, replaces, extents: Extents::kept(version.size), dirty: false, ..draft }
    }

    /// Its length as programs see it.
    pub(crate) fn size(&self) -> u64 {
        self.extents.size()
    }

    /// Whether the store does not have all of it.
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Whether it is to be stored when one of its descriptors is closed. One that was only made, or cut to nothing, is not yet: shells
    /// close a copy of the descriptor before anything is written.
    pub(crate) fn is_filled(&self) -> bool {
        self.filled
    }

    /// # Errors
    /// Why it can't be published any more.
    pub(crate) fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// What is sent will be needed again: there is a handle that reads and writes.
    pub(crate) fn keeps_all(&mut self) {
        self.returns = true;
    }

    /// Changes what the new object will carry.
    pub(crate) fn carry(&mut self, set: &SetAttr) {
        metadata::write(set, &mut self.headers.metadata);
    }

    /// The object has got other headers, and with them maybe another tag.
    pub(crate) fn now_is(&mut self, etag: Arc<str>, headers: Headers) {
        let size = self.replaces.as_ref().map_or(self.size(), |replaced| replaced.size);
        (self.replaces, self.headers) = (Some(Replaced { etag, version: None, size }), headers);
    }

    /// Whether any of a range that is to be changed can't be changed, as only the upload has it: it has to be published before.
    pub(crate) fn is_sent(&mut self, range: Range<u64>) -> bool {
        self.extents.any(range, |place| *place == Place::Sent)
    }

    /// Whether it can't be cut to `size` bytes, as [`Draft::is_sent`].
    pub(crate) fn is_cut_in_sent(&mut self, size: u64, sink: &Sink<'_>) -> bool {
        let cell = sink.grid().cell_at(size);
        cell.is_some_and(|cell| cell.range.start < size) && self.is_sent(size..size + 1)
    }

    /// Cuts it, or makes it longer by zeros.
    ///
    /// # Errors
    /// Why it can't be published any more; [`Error::TooLarge`].
    pub(crate) async fn truncate(&mut self, sink: &Sink<'_>, size: u64) -> Result<()> {
        self.check()?;
        let before = self.size();
        if size == before {
            return Ok(());
        }
        self.check_fits(sink, size)?;
        if size == 0 {
            self.give_up().await;
        } else {
            self.unsend(sink, before.min(size)..before.max(size));
            self.extents.resize(size);
            self.shrink();
        }
        (self.dirty, self.filled) = (true, size > 0);
        Ok(())
    }

    /// Writes `data` at `offset`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] and [`Error::NoSpace`] change nothing. After any other error nothing more is taken.
    pub(crate) async fn write(&mut self, sink: &Sink<'_>, offset: u64, data: Bytes) -> Result<()> {
        self.check()?;
        let range = offset..offset.saturating_add(data.len() as u64);
        self.check_fits(sink, range.end)?;
        if self.discarded {
            self.extents.resize(self.size().max(range.end));
            return Ok(());
        }
        let written = self.take(sink, range, data).await;
        self.unless_failed(written).await
    }

    /// Makes a range zeros; it may begin or end after the end of the file.
    ///
    /// # Errors
    /// As [`Draft::truncate`].
    pub(crate) fn zero(&mut self, sink: &Sink<'_>, range: Range<u64>) -> Result<()> {
        self.check()?;
        self.check_fits(sink, range.end)?;
        self.unsend(sink, range.start.min(self.size())..range.end);
        self.extents.set(range, Place::Zeros);
        self.shrink();
        (self.dirty, self.filled) = (true, true);
        Ok(())
    }

    /// It has lost its name: nothing of it gets into the store any more.
    pub(crate) async fn discard(&mut self) {
        let size = self.size();
        self.give_up().await;
        self.extents.resize(size);
        self.discarded = true;
    }

    /// Gives up what was written, and what is in the store of it.
    pub(crate) async fn give_up(&mut self) {
        self.extents = Extents::default();
        self.forget_written();
        if let Some(parts) = self.parts.take() {
            parts.abort().await;
        }
    }

    fn forget_written(&mut self) {
        (self.held, self.spill) = (None, None);
        self.sent.clear();
        self.begun.clear();
    }

    /// Fails if an object can't be `size` bytes long, or could not be put together from the parts that have been sent.
    fn check_fits(&self, sink: &Sink<'_>, size: u64) -> Result<()> {
        let numbered = self.sent.is_empty() || size == 0 || sink.grid().cell_at(size - 1).is_some();
        if size > OBJECT_BYTES_MAX || !numbered { Err(Error::TooLarge) } else { Ok(()) }
    }

    async fn unless_failed<T>(&mut self, done: Result<T>) -> Result<T> {
        // Of a full disk: what was written before is as it was.
        if let Err(error) = done.as_ref().map_err(|error| (*error).clone()).map(drop)
            && error != Error::NoSpace
        {
            self.failed = Some(error);
            self.give_up().await;
        }
        done
    }

    async fn take(&mut self, sink: &Sink<'_>, range: Range<u64>, data: Bytes) -> Result<()> {
        let again = |place: &Place| matches!(place, Place::Held(_) | Place::Spilled | Place::Sent);
        self.returns |= range.start < self.size() && self.extents.any(range.clone(), again);
        let in_memory = self.room(sink, Extents::cost(data.len() as u64)).await?;
        self.unsend(sink, range.start.min(self.size())..range.end);
        if in_memory {
            self.extents.write(range.start, data);
        } else {
            self.spill(sink).await?.write(vec![(range.start, data)]).await?;
            self.extents.set(range.clone(), Place::Spilled);
        }
        self.shrink();
        (self.dirty, self.filled) = (true, true);
        for cell in sink.grid().cells(range.clone()).filter(|cell| cell.range.end <= range.end) {
            self.send_early(sink, cell).await?;
        }
        Ok(())
    }

    /// Takes memory for `bytes` more. Where there is none, parts on their way are waited for, and then what is in memory goes into the
    /// spill file; `false` if even that does not help, as others have it all.
    async fn room(&mut self, sink: &Sink<'_>, bytes: u64) -> Result<bool> {
        loop {
            if let Some(more) = sink.budget.try_reserve(bytes) {
                match &mut self.held {
                    // Of the same budget, so nothing comes back.
                    Some(held) => drop(held.merge(more)),
                    None => self.held = Some(more),
                }
                return Ok(true);
            }
            if let Some(parts) = &mut self.parts
                && parts.arrive().await.map_err(told)?
            {
                continue;
            }
            if !self.spill_all(sink).await? {
                return Ok(false);
            }
        }
    }

    /// Puts all that is in memory into the spill file; `false` if there is nothing.
    async fn spill_all(&mut self, sink: &Sink<'_>) -> Result<bool> {
        let held = |(range, place)| match place {
            Place::Held(data) => Some((range, data)),
            _ => None,
        };
        let pieces: Vec<(Range<u64>, Bytes)> = self.extents.runs(0..u64::MAX).into_iter().filter_map(held).collect();
        if pieces.is_empty() {
            return Ok(false);
        }
        let data = pieces.iter().map(|(range, data)| (range.start, data.clone())).collect();
        self.spill(sink).await?.write(data).await?;
        for (range, _) in pieces {
            self.extents.set(range, Place::Spilled);
        }
        self.shrink();
        Ok(true)
    }

    async fn spill(&mut self, sink: &Sink<'_>) -> Result<&Spill> {
        let spill = match self.spill.take() {
            Some(spill) => spill,
            None => Spill::create(sink.spill_dir).await?,
        };
        Ok(self.spill.insert(spill))
    }

    /// Gives back memory that is not used any more.
    fn shrink(&mut self) {
        if let Some(held) = &mut self.held {
            held.shrink(self.extents.held());
        }
    }

    /// The parts of a range are not as they should be any more.
    fn unsend(&mut self, sink: &Sink<'_>, range: Range<u64>) {
        if let (false, Some(first)) = (self.sent.is_empty(), sink.grid().cell_at(range.start)) {
            let last = sink.grid().cell_at(range.end.saturating_sub(1)).map_or(u32::MAX, |cell| cell.number);
            self.sent.retain(|number| !(first.number..=last).contains(number));
        }
    }

    /// Sends a cell, if all of it was written.
    async fn send_early(&mut self, sink: &Sink<'_>, cell: Cell) -> Result<()> {
        let here = |place: &Place| matches!(place, Place::Held(_) | Place::Spilled);
        if self.begun.contains(&cell.number) || self.extents.any(cell.range.clone(), |place| !here(place)) {
            return Ok(());
        }
        let data = self.gather(sink, cell.range.clone()).await?;
        let before = self.extents.held();
        let loan = match self.returns || cell.range.start == 0 {
            // Programs come back to the head of a file to say how long it has become.
            true => None,
            false => {
                self.extents.set(cell.range.clone(), Place::Sent);
                let freed = before - self.extents.held();
                self.held.as_mut().map(|held| held.split(freed))
            }
        };
        self.parts(sink).await?.send(cell.number, data, loan).await.map_err(told)?;
        self.begun.insert(cell.number);
        self.sent.insert(cell.number);
        Ok(())
    }

    async fn parts(&mut self, sink: &Sink<'_>) -> Result<&mut Parts> {
        let parts = match self.parts.take() {
            Some(parts) => parts,
            None => Parts::begin(sink.s3, &self.key, &self.headers).await.map_err(told)?,
        };
        Ok(self.parts.insert(parts))
    }
}

impl Sink<'_> {
    /// How a file is divided that is sent while it is written.
    fn grid(&self) -> Grid {
        Grid::growing(self.budget.bytes_max())
    }
}
