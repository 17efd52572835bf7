//! Open files and what is read of them.

use crate::bucket::Bucket;
use crate::draft::{Draft, Seen};
use crate::error::{told, told_of_read};
use crate::found::Version;
use crate::inodes::Node;
use crate::source::{PIECE_BYTES, Raw, cached, pieces};
use bytes::Bytes;
use futures::TryStreamExt;
use std::ops::Range;
use std::sync::Arc;
use stoa_cache::{Object, ReadAhead};
use stoa_objects::s3::Read;
use stoa_vfs::{Error, Ino, Kind, OpenFlags, Result};

/// The longest target of a symbolic link, in bytes (`PATH_MAX` without its NUL).
pub(crate) const TARGET_BYTES_MAX: u64 = 4095;

/// An open file: one content of one object.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) node: Arc<Node>,
    pub(crate) writable: bool,
    read_ahead: ReadAhead,
    uncached: bool,
}

impl Bucket {
    /// Opens the object of an inode. From now on it is read as it is now, or as it is written here, or not at all.
    pub(crate) fn open_object(&self, ino: Ino, flags: OpenFlags) -> Result<Open> {
        let node = self.inodes.get(ino)?;
        let version = node.version()?;
        if node.attr().kind != Kind::Regular {
            return Err(Error::Invalid("a symbolic link is not opened"));
        }
        // So that the kernel looks the name up again.
        if node.is_stale() {
            return Err(Error::Stale);
        }
        if version.draft == 0 {
            content(&version)?;
        }
        Ok(Open { node, writable: flags.write, read_ahead: self.cache.read_ahead(), uncached: flags.uncached })
    }

    /// Up to `size` bytes at `offset`: fewer only at the end.
    pub(crate) async fn read_open(&self, open: &Open, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        let len = u64::try_from(size).unwrap_or(u64::MAX);
        loop {
            let (before, view) = self.view(&open.node, offset..offset.saturating_add(len)).await?;
            let read = match view {
                Some(view) => self.read_view(view).await,
                None => self.read_stored(open, &before, offset, len).await,
            };
            match read {
                // What was written here has been stored meanwhile, in the place of what was looked for.
                Err(Error::Stale) if open.node.version()? != before => {}
                Err(Error::Stale) => {
                    if !open.node.draft.lock().await.as_ref().is_some_and(Draft::is_dirty) {
                        open.node.went_stale();
                    }
                    return Err(Error::Stale);
                }
                read => return read,
            }
        }
    }

    async fn read_stored(&self, open: &Open, version: &Version, offset: u64, len: u64) -> Result<Vec<Bytes>> {
        let range = offset..offset.saturating_add(len).min(version.size);
        if range.is_empty() {
            return Ok(Vec::new());
        }
        // Made here and removed before it was stored.
        if version.draft > 0 {
            return Err(Error::Stale);
        }
        let object = content(version)?;
        let wanted = pieces(range.clone(), version.size);
        let reading = self.cache.read(&object, &wanted, Arc::new(Raw));
        let ahead = async {
            if let Some(ahead) = open.read_ahead.on_read(offset, len, version.size) {
                self.cache.prefetch(object.clone(), pieces(ahead, version.size), Arc::new(Raw));
            }
        };
        // What is read is asked for first.
        let (read, ()) = futures::join!(reading, ahead);
        let read = read.map_err(|error| told_of_read(&error))?;
        self.give_up_passed(open, &object, version.size);
        Ok(within(read, range))
    }

    /// Which content the store has, and where the bytes of a range are, if the file is being written and the store does not have that yet.
    async fn view(&self, node: &Node, range: Range<u64>) -> Result<(Version, Option<Vec<Seen>>)> {
        let mut draft = node.draft.lock().await;
        let Some(writing) = draft.as_mut() else { return Ok((node.version()?, None)) };
        writing.check()?;
        if !writing.is_dirty() || writing.is_discarded() {
            return Ok((node.version()?, None));
        }
        let view = writing.view(range);
        if view.is_none() {
            // Nobody can read parts before the upload is complete.
            self.publish_or_lose(node, writing).await?;
        }
        Ok((node.version()?, view))
    }

    async fn read_view(&self, view: Vec<Seen>) -> Result<Vec<Bytes>> {
        let mut read = Vec::new();
        for seen in view {
            match seen {
                Seen::Here(bytes) => read.extend(bytes),
                Seen::Spilled(spill, range) => read.push(spill.read(range).await?),
                Seen::Stored(version, range) => {
                    let wanted = pieces(range.clone(), version.size);
                    let got = self.cache.read(&content(&version)?, &wanted, Arc::new(Raw)).await;
                    read.extend(within(got.map_err(|error| told_of_read(&error))?, range));
                }
            }
        }
        Ok(read)
    }

    /// Gives up what a long sequential reader has passed: whoever reads it again is served by the cache of the door.
    fn give_up_passed(&self, open: &Open, object: &Object, size: u64) {
        if let Some(passed) = open.read_ahead.behind().filter(|_| !open.uncached) {
            // The last of them may have a part that was not passed.
            let whole = passed.start..passed.end.saturating_sub(u64::from(PIECE_BYTES));
            self.cache.release(object.id, pieces(whole, size).into_iter().map(|piece| piece.offset));
        }
    }

    /// The target of a symbolic link, as s3fs keeps it: the content of its object.
    pub(crate) async fn read_link(&self, ino: Ino) -> Result<Bytes> {
        let node = self.inodes.get(ino)?;
        let attr = node.attr();
        if attr.kind != Kind::Symlink {
            return Err(Error::Invalid("it is no symbolic link"));
        }
        let version = node.version()?;
        if version.size == 0 || version.size > TARGET_BYTES_MAX {
            return Err(Error::Io(format!(
                "{:?} says that it is a symbolic link, and has {} bytes",
                version.key, version.size
            )));
        }
        let read = Read { if_match: version.etag.as_deref().map(str::to_owned), ..Read::default() };
        let got = self.s3.get(&version.key, &read).await.map_err(told)?;
        let target: Vec<Bytes> = got.body.try_collect().await.map_err(told)?;
        Ok(target.concat().into())
    }
}

pub(crate) fn content(version: &Version) -> Result<Object> {
    cached(version).ok_or(Error::Unsupported("reading an object that the server gives no ETag of"))
}

/// What of pieces, the first of which has the start of `range` in it, lies in the range.
fn within(pieces: Vec<Bytes>, range: Range<u64>) -> Vec<Bytes> {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut skip = size(range.start % u64::from(PIECE_BYTES));
    let mut left = size(range.end - range.start);
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let part = piece.slice(skip.min(piece.len())..skip.saturating_add(left).min(piece.len()));
        left -= part.len();
        skip = 0;
        parts.push(part);
    }
    parts
}
