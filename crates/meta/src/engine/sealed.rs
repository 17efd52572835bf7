//! A checksum for those of SlateDB's objects that have none of their own: all but its tables and logs. A flipped bit in a manifest
//! would take tables, and with them files, away without a word. And so would a log that has lost all its bytes: SlateDB takes that for
//! a fence, which shuts an older writer out by being in the place of its next log. So fences have a checksum, too.

use async_trait::async_trait;
use bytes::Bytes;
use crc_fast::{CrcAlgorithm, Digest};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use slatedb_common::retry::NonRetryable;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The extension of tables and logs, whose blocks SlateDB checks.
const CHECKED_BY_ITSELF: &str = "sst";

/// Bytes of the checksum, which ends a sealed object: CRC-64/NVME, little-endian, over the object's path and content.
const SEAL_BYTES: usize = 8;

/// The folder of logs.
const LOGS: &str = "wal";

/// How a fence is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// As an object of no bytes: a log that has lost its bytes can't be told from it.
    Empty,
    /// As the checksum of no bytes.
    Sealed,
}

/// An object that is not what was written.
#[derive(Debug, thiserror::Error)]
#[error("{0} is damaged: its checksum is wrong")]
pub(super) struct Damaged(Path);

/// A store whose small objects carry a checksum.
#[derive(Debug)]
struct Sealed {
    inner: Arc<dyn ObjectStore>,
    fences: Fences,
}

/// `store`, with a checksum on what needs one.
pub(super) fn sealed(store: Arc<dyn ObjectStore>, fences: Fences) -> Arc<dyn ObjectStore> {
    Arc::new(Sealed { inner: store, fences })
}

fn is_sealed(location: &Path) -> bool {
    location.extension() != Some(CHECKED_BY_ITSELF)
}

fn is_log(location: &Path) -> bool {
    !is_sealed(location) && location.parts().rev().nth(1).is_some_and(|folder| folder.as_ref() == LOGS)
}

impl Sealed {
    /// Whether an object so short is a fence, or a log that was longer: no log is as short as a checksum.
    fn is_fence(&self, location: &Path, stored_bytes: u64) -> bool {
        self.fences == Fences::Sealed && is_log(location) && stored_bytes <= SEAL_BYTES as u64
    }
}

fn checksum<'a>(location: &Path, content: impl IntoIterator<Item = &'a [u8]>) -> [u8; SEAL_BYTES] {
    let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
    digest.update(location.as_ref().as_bytes());
    content.into_iter().for_each(|bytes| digest.update(bytes));
    digest.finalize().to_le_bytes()
}

fn seal(location: &Path, content: &PutPayload) -> PutPayload {
    let seal = checksum(location, content.iter().map(AsRef::as_ref));
    content.iter().cloned().chain([Bytes::copy_from_slice(&seal)]).collect()
}

/// The content of a sealed object, if it is what was written.
fn unseal(location: &Path, stored: Bytes) -> Result<Bytes> {
    match stored.split_last_chunk::<SEAL_BYTES>() {
        Some((content, seal)) if *seal == checksum(location, [content]) => Ok(stored.slice(..content.len())),
        // SlateDB would read it again for ever.
        _ => Err(object_store::Error::Generic {
            store: "metadata",
            source: Box::new(NonRetryable(Box::new(Damaged(location.clone())))),
        }),
    }
}

/// What a store answered about a sealed object, as if it had no seal.
async fn without_seal(location: &Path, found: GetResult, head: bool) -> Result<GetResult> {
    let mut meta = found.meta.clone();
    meta.size = meta.size.saturating_sub(SEAL_BYTES as u64);
    let (attributes, extensions) = (found.attributes.clone(), found.extensions.clone());
    let content = if head { Bytes::new() } else { unseal(location, found.bytes().await?)? };
    let payload = GetResultPayload::Stream(futures::stream::once(async { Ok(content) }).boxed());
    Ok(GetResult { payload, range: 0..meta.size, meta, attributes, extensions })
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Sealed {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let sealed = is_sealed(location) || self.is_fence(location, payload.content_length() as u64);
        let payload = if sealed { seal(location, &payload) } else { payload };
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        if is_sealed(location) {
            return Err(in_one_piece("an upload in parts", location));
        }
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if !is_sealed(location) {
            let found = self.inner.get_opts(location, options).await?;
            if !self.is_fence(location, found.meta.size) {
                return Ok(found);
            }
            // Whole, whatever was asked for: it is looked at whether it is one.
            return without_seal(location, self.inner.get(location).await?, false).await;
        }
        if options.range.is_some() {
            return Err(in_one_piece("a read of a range", location));
        }
        let head = options.head;
        without_seal(location, self.inner.get_opts(location, options).await?, head).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if is_sealed(location) {
            return Err(in_one_piece("a read of ranges", location));
        }
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let fences = self.fences;
        // Fences are collected by their size, and other logs by theirs.
        let shown = move |found: ObjectMeta| match fences {
            Fences::Sealed if is_log(&found.location) && found.size == SEAL_BYTES as u64 => {
                ObjectMeta { size: 0, ..found }
            }
            _ => found,
        };
        self.inner.list(prefix).map_ok(shown).boxed()
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        // The checksum is also over the name.
        if is_sealed(from) || is_sealed(to) {
            return Err(in_one_piece("a copy", to));
        }
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        if is_sealed(from) || is_sealed(to) {
            return Err(in_one_piece("a rename", to));
        }
        self.inner.rename_opts(from, to, options).await
    }
}

/// What SlateDB does not do with these objects: it would pass by the checksum.
fn in_one_piece(what: &str, location: &Path) -> object_store::Error {
    let source = format!("{what} of {location}: it has one checksum, and is read and written whole").into();
    object_store::Error::NotSupported { source }
}

#[cfg(test)]
mod tests;
