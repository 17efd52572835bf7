//! What is being written to one object: what is kept of the one before, and after that, what came in order.
//!
//! Nothing of it is in the store before it is published; then all of it is, at once.

use crate::error::told;
use crate::found::Version;
use crate::metadata;
use crate::parts::{PART_BYTES_MIN, Parts, part_bytes};
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use object_store::GetRange;
use std::sync::Arc;
use stoa_cache::{Budget, Reservation};
use stoa_objects::s3::{Condition, Headers, Read, S3Bucket, Source, Written};
use stoa_vfs::{Error, Result, SetAttr};

/// The longest object of S3, in bytes.
const OBJECT_BYTES_MAX: u64 = 5 << 40;

/// So many parts has an object at most.
const PARTS_MAX: u32 = 10_000;

/// A file that is open for writing.
#[derive(Debug)]
pub(crate) struct Draft {
    key: Arc<str>,
    /// What the new object carries.
    headers: Headers,
    /// The content that it replaces; none, if there must not be any.
    replaces: Option<Arc<str>>,
    /// How many bytes of that content are kept before what was written. They are not in the buffer, nor in the parts.
    kept: u64,
    buffer: BytesMut,
    held: Option<Reservation>,
    parts: Option<Parts>,
    /// How many bytes went into the parts.
    sent: u64,
    dirty: bool,
    /// It has no name any more: what is written to it goes nowhere.
    discarded: bool,
    /// Why it can't be published any more.
    failed: Option<Error>,
    /// Open handles that write.
    pub(crate) writers: u32,
}

/// Where data go while a draft grows.
pub(crate) struct Sink<'b> {
    pub(crate) s3: &'b S3Bucket,
    /// Memory for what is written.
    pub(crate) budget: &'b Budget,
}

impl Draft {
    /// Of a file that is not in the store yet, and will carry `headers`.
    pub(crate) fn new(key: Arc<str>, headers: Headers) -> Self {
        Self {
            key,
            headers,
            replaces: None,
            kept: 0,
            buffer: BytesMut::new(),
            held: None,
            parts: None,
            sent: 0,
            dirty: true,
            discarded: false,
            failed: None,
            writers: 0,
        }
    }

    /// Of an object that is there and carries `headers`.
    pub(crate) fn of(version: &Version, mut headers: Headers) -> Self {
        // It was the time of the content that goes.
        headers.metadata.remove("mtime");
        let draft = Self::new(Arc::clone(&version.key), headers);
        Self { replaces: version.etag.clone(), kept: version.size, dirty: false, ..draft }
    }

    /// Its length as programs see it.
    pub(crate) fn size(&self) -> u64 {
        self.kept + self.sent + self.buffer.len() as u64
    }

    /// Whether the store does not have all of it.
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// # Errors
    /// Why it can't be published any more.
    pub(crate) fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Changes what the new object will carry.
    pub(crate) fn carry(&mut self, set: &SetAttr) {
        metadata::write(set, &mut self.headers.metadata);
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
        (self.replaces, self.headers) = (Some(etag), headers);
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
        (self.key, self.replaces) = (Arc::clone(&version.key), version.etag.clone());
    }

    /// Cuts it, before anything was written.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for what can't be.
    pub(crate) async fn truncate(&mut self, size: u64) -> Result<()> {
        self.check()?;
        if size == self.size() {
            return Ok(());
        }
        if size > 0 && (size > self.kept || self.sent > 0 || !self.buffer.is_empty()) {
            return Err(Error::Unsupported("cutting an object that is being written, or making it longer"));
        }
        if size == 0 {
            self.give_up().await;
        }
        (self.kept, self.dirty) = (size, true);
        Ok(())
    }

    /// Adds `data` at its end.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another offset, which changes nothing. After any other error nothing more is taken.
    pub(crate) async fn write(&mut self, sink: &Sink<'_>, offset: u64, data: &[u8]) -> Result<()> {
        self.check()?;
        if self.discarded {
            self.sent = self.sent.max(offset.saturating_add(data.len() as u64));
            return Ok(());
        }
        if offset != self.size() {
            return Err(Error::Unsupported("writing to an object elsewhere than at its end"));
        }
        if self.size() + data.len() as u64 > OBJECT_BYTES_MAX {
            return Err(Error::TooLarge);
        }
        let added = self.add(sink, data).await;
        self.unless_failed(added).await
    }

    /// Puts it into the store, if that does not have it; says which content it is then.
    ///
    /// # Errors
    /// Why that failed: it is said again, and nothing of it gets into the store any more.
    pub(crate) async fn publish(&mut self, sink: &Sink<'_>) -> Result<Option<Version>> {
        self.check()?;
        if !self.dirty || self.discarded {
            return Ok(None);
        }
        let size = self.size();
        let put = self.put(sink).await;
        let written = self.unless_failed(put).await?;
        let etag: Arc<str> = written.etag.into();
        (self.replaces, self.kept) = (Some(Arc::clone(&etag)), size);
        (self.buffer, self.held, self.parts, self.sent) = (BytesMut::new(), None, None, 0);
        self.dirty = false;
        Ok(Some(Version { key: Arc::clone(&self.key), etag: Some(etag), size, draft: 0 }))
    }

    /// It has lost its name: nothing of it gets into the store any more.
    pub(crate) async fn discard(&mut self) {
        let size = self.size();
        self.give_up().await;
        (self.kept, self.sent, self.discarded) = (0, size, true);
    }

    /// Gives up what was written, and what is in the store of it.
    pub(crate) async fn give_up(&mut self) {
        (self.buffer, self.held, self.sent) = (BytesMut::new(), None, 0);
        if let Some(parts) = self.parts.take() {
            parts.abort().await;
        }
    }

    async fn unless_failed<T>(&mut self, done: Result<T>) -> Result<T> {
        if let Err(error) = &done {
            self.failed = Some(error.clone());
            self.give_up().await;
        }
        done
    }

    async fn add(&mut self, sink: &Sink<'_>, data: &[u8]) -> Result<()> {
        self.fetch_kept(sink).await?;
        let mut data = data;
        while !data.is_empty() {
            let full = part_bytes(self.next_part(), sink.budget.bytes_max());
            let room = full.saturating_sub(self.buffer.len() as u64);
            let (now, later) =
                data.split_at_checked(usize::try_from(room).unwrap_or(usize::MAX)).unwrap_or((data, &[]));
            self.reserve(sink, now.len() as u64).await?;
            self.buffer.extend_from_slice(now);
            self.dirty = true;
            data = later;
            if self.buffer.len() as u64 >= full {
                self.send(sink).await?;
            }
        }
        Ok(())
    }

    /// Takes memory for `bytes` more in the buffer. Where there is none, what is in the buffer is sent first and waited for. What is too
    /// short to be sent stays, without a place in the budget: the memory may be held by files of which nobody is going to write on,
    /// so nobody waits for it. Beside the budget there is that much for each file that is being written.
    async fn reserve(&mut self, sink: &Sink<'_>, bytes: u64) -> Result<()> {
        let Some(more) = sink.budget.try_reserve(bytes) else {
            if self.buffer.len() as u64 >= PART_BYTES_MIN {
                self.send(sink).await?;
                self.parts(sink).await?.settle().await.map_err(told)?;
            }
            return Ok(());
        };
        match &mut self.held {
            // Of the same budget, so nothing comes back.
            Some(held) => drop(held.merge(more)),
            None => self.held = Some(more),
        }
        Ok(())
    }

    fn next_part(&self) -> u32 {
        self.parts.as_ref().map_or(1, Parts::next)
    }

    /// Sends what is in the buffer as a part.
    async fn send(&mut self, sink: &Sink<'_>) -> Result<()> {
        if self.next_part() > PARTS_MAX {
            return Err(Error::TooLarge);
        }
        let (data, held) = (std::mem::take(&mut self.buffer).freeze(), self.held.take());
        self.sent += data.len() as u64;
        self.parts(sink).await?.send(data, held).await.map_err(told)
    }

    async fn parts(&mut self, sink: &Sink<'_>) -> Result<&mut Parts> {
        let parts = match self.parts.take() {
            Some(parts) => parts,
            None => Parts::begin(sink.s3, &self.key, &self.headers).await.map_err(told)?,
        };
        Ok(self.parts.insert(parts))
    }

    /// Makes what is kept of the content before a part of what is written: copied by the server, or, where it is too short for that,
    /// fetched.
    async fn fetch_kept(&mut self, sink: &Sink<'_>) -> Result<()> {
        if self.kept == 0 {
            return Ok(());
        }
        let if_match = self.replaces.as_deref().map(str::to_owned);
        if self.kept >= PART_BYTES_MIN {
            let source = Source { key: self.key.to_string(), version: None, if_match };
            let kept = self.kept;
            self.parts(sink).await?.copy(&source, kept).await.map_err(told)?;
            self.sent += kept;
        } else {
            self.reserve(sink, self.kept).await?;
            let read = Read { range: Some(GetRange::Bounded(0..self.kept)), if_match, version: None };
            let got = sink.s3.get(&self.key, &read).await.map_err(told)?;
            let bytes: Vec<Bytes> = got.body.try_collect().await.map_err(told)?;
            bytes.iter().for_each(|bytes| self.buffer.extend_from_slice(bytes));
        }
        self.kept = 0;
        Ok(())
    }

    async fn put(&mut self, sink: &Sink<'_>) -> Result<Written> {
        self.fetch_kept(sink).await?;
        let condition = match &self.replaces {
            Some(etag) => Condition::IfMatch(etag.to_string()),
            None => Condition::IfAbsent,
        };
        if self.parts.is_some() && !self.buffer.is_empty() {
            self.send(sink).await?;
        }
        let done = match &mut self.parts {
            Some(parts) => parts.complete(&condition).await,
            None => {
                sink.s3
                    .put(&self.key, std::mem::take(&mut self.buffer).freeze().into(), &self.headers, &condition)
                    .await
            }
        };
        match done {
            // What it was to replace is gone.
            Err(error) if error.is_not_found() => Err(Error::Stale),
            done => done.map_err(told),
        }
    }
}
