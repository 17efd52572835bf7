//! What is being written to one object: ranges of the one before that are kept, and what was written since.
//!
//! Nothing of it is in the store before it is published; then all of it is, at once. What was written stays in memory, as far as there
//! is any, and then in a spill file. Parts of the file that have been written to their end are sent meanwhile. Those of a file that is
//! written in order, and not read, are not kept here after that: nothing but the upload has them ([`Place::Sent`]).

mod assemble;
mod conflict;
mod memory;
mod sending;
mod unfinished;
mod view;

pub(crate) use unfinished::Ended;
pub(crate) use view::Seen;

use crate::error::told;
use crate::extents::{Extents, Place};
use crate::found::Version;
use crate::layout::Grid;
use crate::metadata;
use crate::parts::{Parts, Traffic};
use crate::spill::Spill;
use bytes::Bytes;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use stoa_cache::{Budget, Cache, Reservation};
use stoa_objects::s3::limits::COPY_BYTES_MAX;
use stoa_objects::s3::{Condition, Headers, ObjectInfo, S3Bucket, Source, Written};
use stoa_vfs::{Error, Result, SetAttr};

/// The longest object of S3, in bytes.
pub(crate) const OBJECT_BYTES_MAX: u64 = 5 << 40;

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
    /// Whether there is anything to store but that it was made, or emptied by opening it.
    filled: bool,
    /// Whether a descriptor of it was closed.
    closed: bool,
    /// It has no name any more: what is written to it goes nowhere.
    discarded: bool,
    /// Why it can't be published any more.
    failed: Option<Error>,
    /// What it is called in the name of what is kept beside the object.
    word: &'static str,
    /// The key of what was written, if somebody else's object keeps the name.
    conflict: Option<Arc<str>>,
    /// Open handles that write.
    pub(crate) writers: u32,
}

/// The content that a draft begins with.
#[derive(Debug, Clone)]
struct Replaced {
    key: Arc<str>,
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
    /// Parts on their way.
    pub(crate) traffic: &'b Arc<Traffic>,
    /// Where it goes if there is none.
    pub(crate) spill_dir: &'b Arc<Path>,
    /// What may still have the content that is replaced.
    pub(crate) cache: &'b Arc<Cache>,
    /// Who writes, for the names of what others wrote too.
    pub(crate) host: &'b str,
}

impl Draft {
    /// Of a file that is not in the store yet, and will carry `headers`.
    pub(crate) fn new(key: Arc<str>, headers: Headers) -> Self {
        Self {
            key,
            headers,
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
            closed: false,
            discarded: false,
            failed: None,
            word: "conflict",
            conflict: None,
            writers: 0,
        }
    }

    /// Of an object that is there, as it was just asked about itself.
    pub(crate) fn of(version: &Version, info: ObjectInfo) -> Self {
        let mut headers = info.headers;
        // It was the time of the content that goes.
        headers.metadata.remove("mtime");
        let etag = version.etag.clone();
        let key = Arc::clone(&version.key);
        let replaces = etag.map(|etag| Replaced { key, etag, version: kept(info.version), size: version.size });
        let draft = Self::new(Arc::clone(&version.key), headers);
        Self { replaces, extents: Extents::kept(version.size), dirty: false, ..draft }
    }

    /// The key of its object.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Its length as programs see it.
    pub(crate) fn size(&self) -> u64 {
        self.extents.size()
    }

    /// Whether the store does not have all of it.
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Whether it is to be stored when one of its descriptors is closed. One that was only made, or emptied by opening it, is not yet: shells
    /// close a copy of the descriptor before anything is written.
    pub(crate) fn is_filled(&self) -> bool {
        self.filled
    }

    /// # Errors
    /// Why it can't be published any more.
    pub(crate) fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Under which key it is kept, if somebody else's object has kept the name. Said once.
    pub(crate) fn take_conflict(&mut self) -> Option<Arc<str>> {
        self.conflict.take()
    }

    /// What is sent will be needed again: there is a handle that reads and writes.
    pub(crate) fn keeps_all(&mut self) {
        self.returns = true;
    }

    /// Changes what the new object will carry.
    ///
    /// # Errors
    /// As [`metadata::carry`].
    pub(crate) fn carry(&mut self, set: &SetAttr) -> Result<()> {
        metadata::carry(set, &mut self.headers.metadata)
    }

    /// What the new object will carry.
    pub(crate) fn headers(&self) -> &Headers {
        &self.headers
    }

    /// To change what the new object will carry.
    pub(crate) fn headers_mut(&mut self) -> &mut Headers {
        &mut self.headers
    }

    /// The object has got other headers, and with them maybe another tag.
    pub(crate) fn now_is(&mut self, etag: Arc<str>, headers: Headers) {
        let size = self.replaces.as_ref().map_or(self.size(), |replaced| replaced.size);
        let key = Arc::clone(&self.key);
        (self.replaces, self.headers) = (Some(Replaced { key, etag, version: None, size }), headers);
    }

    /// Gives a new file another key; `false` if there is something of it in the store, or on its way there.
    pub(crate) fn renamed(&mut self, key: &Arc<str>) -> bool {
        let is_free = self.parts.is_none() && self.replaces.is_none() && self.failed.is_none() && !self.discarded;
        if is_free {
            self.key = Arc::clone(key);
        }
        is_free
    }

    /// The object that it replaces has another key now.
    pub(crate) fn moved(&mut self, version: &Version) {
        self.key = Arc::clone(&version.key);
        self.replaces = version.etag.clone().map(|etag| Replaced {
            key: Arc::clone(&version.key),
            etag,
            version: None,
            size: version.size,
        });
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
        self.is_changed();
        Ok(())
    }

    /// Cuts it to nothing, as opening a file does that is then written.
    ///
    /// # Errors
    /// As [`Draft::truncate`].
    pub(crate) async fn empty(&mut self, sink: &Sink<'_>) -> Result<()> {
        self.truncate(sink, 0).await?;
        (self.filled, self.closed) = (false, false);
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
        self.is_changed();
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

    /// The content is another: it has not the time that the one before had.
    fn is_changed(&mut self) {
        self.headers.metadata.remove("mtime");
        (self.dirty, self.filled) = (true, true);
    }

    fn forget_written(&mut self) {
        (self.held, self.spill) = (None, None);
        self.sent.clear();
        self.begun.clear();
    }

    /// Fails if an object can't be `size` bytes long, or could not be put together from the parts that have been sent.
    fn check_fits(&self, sink: &Sink<'_>, size: u64) -> Result<()> {
        let numbered = self.sent.is_empty() || sink.grid().covers(size);
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
        self.is_changed();
        for cell in sink.grid().cells(range.clone()).filter(|cell| cell.range.end <= range.end) {
            self.send_early(sink, cell).await?;
        }
        Ok(())
    }
}

/// A version that stays when the object is replaced. Where versions are suspended, the one called null does not.
fn kept(version: Option<String>) -> Option<String> {
    version.filter(|version| version != "null")
}

/// Has the server make an object of the content of another, which is not empty, of any length.
async fn copy(
    sink: &Sink<'_>,
    source: &Source,
    size: u64,
    to: &str,
    headers: &Headers,
    condition: &Condition,
) -> Result<Written> {
    let parts = Parts::begin_copies(sink.s3, to, headers, sink.traffic).await.map_err(told)?;
    parts.copy_all(source, size, COPY_BYTES_MAX, condition).await.map_err(told)
}

impl Sink<'_> {
    /// How a file is divided that is sent while it is written.
    fn grid(&self) -> Grid {
        Grid::growing(self.budget.bytes_max())
    }
}
