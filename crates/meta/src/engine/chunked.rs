//! Reading tables in large pieces. SlateDB asks for the one block that holds a record, of 4 KiB; the next block is asked for soon
//! after, because what was made together lies together, and every request is a round trip to the store.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Extensions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    RenameOptions, Result,
};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use slatedb::object_store_tag::ObjectStoreCallTag;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a chunk: at the speed of an object store as long on the way as a request is.
const CHUNK_BYTES: u64 = 512 << 10;

/// Chunks of one read that are fetched at once.
const FETCHES_MAX: usize = 4;

/// Tables and logs: never changed once they are written, under names that never come back.
const IMMUTABLE: &str = "sst";

/// The chunk of an object with this number.
type Key = (Path, u64);

/// `store`, whose tables are read in chunks, which stay in memory up to `bytes_max` of them.
pub(super) fn chunked(store: Arc<dyn ObjectStore>, bytes_max: u64) -> Arc<dyn ObjectStore> {
    let items = usize::try_from(bytes_max / CHUNK_BYTES).unwrap_or(usize::MAX);
    Arc::new(Chunked { inner: store, chunks: Cache::with_weighter(items, bytes_max, Weigh) })
}

#[derive(Debug)]
struct Chunked {
    inner: Arc<dyn ObjectStore>,
    chunks: Cache<Key, Chunk, Weigh>,
}

#[derive(Debug, Clone)]
struct Chunk {
    /// Of the whole object.
    meta: ObjectMeta,
    content: Bytes,
}

#[derive(Debug, Clone)]
struct Weigh;

impl Weighter<Key, Chunk> for Weigh {
    fn weight(&self, _: &Key, chunk: &Chunk) -> u64 {
        chunk.content.len() as u64
    }
}

impl Chunked {
    /// The chunk of an object with this number. Whoever asks for one that is on its way waits for it.
    async fn chunk(&self, location: &Path, number: u64) -> Result<Chunk> {
        let fetch = async {
            let range = GetRange::Bounded(number * CHUNK_BYTES..(number + 1) * CHUNK_BYTES);
            let options = GetOptions { range: Some(range), ..GetOptions::default() };
            let found = self.inner.get_opts(location, options).await?;
            let meta = found.meta.clone();
            Ok(Chunk { meta, content: found.bytes().await? })
        };
        self.chunks.get_or_insert_async(&(location.clone(), number), fetch).await
    }

    async fn read(&self, location: &Path, range: Range<u64>) -> Result<GetResult> {
        let first = range.start / CHUNK_BYTES;
        let numbers = first..range.end.div_ceil(CHUNK_BYTES);
        let fetches = numbers.map(|number| self.chunk(location, number));
        let chunks: Vec<Chunk> = stream::iter(fetches).buffered(FETCHES_MAX).try_collect().await?;
        let meta = match chunks.first() {
            Some(chunk) => chunk.meta.clone(),
            // Of an empty range.
            None => self.inner.head(location).await?,
        };
        let range = range.start..range.end.min(meta.size);
        let content = part(&chunks, range.start - first * CHUNK_BYTES, range.end.saturating_sub(range.start));
        let payload = GetResultPayload::Stream(stream::once(async { Ok(content) }).boxed());
        Ok(GetResult { payload, meta, range, attributes: Attributes::new(), extensions: Extensions::new() })
    }
}

/// `len` bytes of chunks that follow one another, from `start` on, as far as there are so many.
fn part(chunks: &[Chunk], start: u64, len: u64) -> Bytes {
    let (mut skip, mut left) = (bytes(start), bytes(len));
    let mut parts = chunks.iter().filter_map(|Chunk { content, .. }| {
        let from = skip.min(content.len());
        let to = from.saturating_add(left).min(content.len());
        (skip, left) = (skip - from, left - (to - from));
        (from < to).then(|| content.slice(from..to))
    });
    let first = parts.next().unwrap_or_default();
    match parts.next() {
        None => first,
        Some(second) => {
            let mut whole = BytesMut::from(first);
            whole.extend_from_slice(&second);
            parts.for_each(|part| whole.extend_from_slice(&part));
            whole.freeze()
        }
    }
}

fn bytes(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The range to read, if this is a plain read of a table.
fn wanted(location: &Path, options: &GetOptions) -> Option<Range<u64>> {
    let plain = !options.head
        && options.if_match.is_none()
        && options.if_none_match.is_none()
        && options.if_modified_since.is_none()
        && options.if_unmodified_since.is_none()
        && options.version.is_none();
    // What was found damaged is asked for again: it may have been so only in memory.
    let again = ObjectStoreCallTag::from_extensions(&options.extensions).is_some_and(|tag| tag.retry.is_some());
    match &options.range {
        Some(GetRange::Bounded(range)) if plain && !again && location.extension() == Some(IMMUTABLE) => {
            Some(range.clone())
        }
        _ => None,
    }
}

impl fmt::Display for Chunked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Chunked {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        match wanted(location, &options) {
            Some(range) => self.read(location, range).await,
            None => self.inner.get_opts(location, options).await,
        }
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}

#[cfg(test)]
mod tests;
