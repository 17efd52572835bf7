//! A checksum for those of SlateDB's objects that have none of their own: all but its tables and logs. A flipped bit in a manifest
//! would take tables, and with them files, away without a word.

use async_trait::async_trait;
use bytes::Bytes;
use crc_fast::{CrcAlgorithm, Digest};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use slatedb_common::retry::NonRetryable;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The extension of tables and logs, whose blocks SlateDB checks.
const CHECKED_BY_ITSELF: &str = "sst";

/// Bytes of the checksum, which ends a sealed object: CRC-64/NVME, little-endian, over the object's path and content.
const SEAL_BYTES: usize = 8;

/// An object that is not what was written.
#[derive(Debug, thiserror::Error)]
#[error("{0} is damaged: its checksum is wrong")]
pub(super) struct Damaged(Path);

/// A store whose small objects carry a checksum.
#[derive(Debug)]
struct Sealed(Arc<dyn ObjectStore>);

/// `store`, with a checksum on what needs one.
pub(super) fn sealed(store: Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore> {
    Arc::new(Sealed(store))
}

fn is_sealed(location: &Path) -> bool {
    location.extension() != Some(CHECKED_BY_ITSELF)
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
        self.0.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Sealed {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let payload = if is_sealed(location) { seal(location, &payload) } else { payload };
        self.0.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        if is_sealed(location) {
            return Err(in_one_piece("an upload in parts", location));
        }
        self.0.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if !is_sealed(location) {
            return self.0.get_opts(location, options).await;
        }
        if options.range.is_some() {
            return Err(in_one_piece("a read of a range", location));
        }
        let head = options.head;
        without_seal(location, self.0.get_opts(location, options).await?, head).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if is_sealed(location) {
            return Err(in_one_piece("a read of ranges", location));
        }
        self.0.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        // The checksum is also over the name.
        if is_sealed(from) || is_sealed(to) {
            return Err(in_one_piece("a copy", to));
        }
        self.0.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        if is_sealed(from) || is_sealed(to) {
            return Err(in_one_piece("a rename", to));
        }
        self.0.rename_opts(from, to, options).await
    }
}

/// What SlateDB does not do with these objects: it would pass by the checksum.
fn in_one_piece(what: &str, location: &Path) -> object_store::Error {
    let source = format!("{what} of {location}: it has one checksum, and is read and written whole").into();
    object_store::Error::NotSupported { source }
}

#[cfg(test)]
mod tests;
