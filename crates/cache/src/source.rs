//! Where pieces are fetched from.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{BoxStream, try_unfold};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{GetOptions, GetResult, GetResultPayload, ObjectStore};
use tokio::task;

use crate::{Error, Object, Result};

/// How much of a local file is read at a time.
const FILE_CHUNK_BYTES: u64 = 512 << 10;

/// Where the objects are.
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// The bytes of a range of `object`, from its start and in order. The range lies within the object. If there are fewer, or
    /// more, that is found by who reads them.
    ///
    /// # Errors
    /// What the store says, as [`Error::store`], also within the stream. An answer that is not of this range, or of another
    /// content than `object` names, is an error and never bytes.
    async fn get(&self, object: &Object, range: Range<u64>) -> Result<BoxStream<'static, Result<Bytes>>>;
}

#[async_trait]
impl Source for Arc<dyn ObjectStore> {
    async fn get(&self, object: &Object, range: Range<u64>) -> Result<BoxStream<'static, Result<Bytes>>> {
        let path = Path::parse(&object.key).map_err(Error::store)?;
        let options = GetOptions::new().with_range(Some(range.clone()));
        let options = GetOptions { if_match: object.etag.as_deref().map(str::to_owned), ..options };
        let answer = self.get_opts(&path, options).await.map_err(Error::store)?;
        if answer.range.start != range.start {
            return Err(Error::Short { key: Arc::clone(&object.key), wanted: range.end, got: answer.range.start });
        }
        Ok(stream(answer))
    }
}

/// The bytes of an answer. Those of a local file are read in large chunks: `object_store` makes a trip to another
/// thread for every 8 KiB.
fn stream(answer: GetResult) -> BoxStream<'static, Result<Bytes>> {
    match answer.payload {
        GetResultPayload::Stream(stream) => stream.map_err(Error::store).boxed(),
        GetResultPayload::File(file, _) => {
            let read = |(file, range)| async move {
                match task::spawn_blocking(move || read_chunk(file, range)).await {
                    Ok(read) => read.map_err(Error::store),
                    Err(error) => Err(Error::store(error)),
                }
            };
            Box::pin(try_unfold((file, answer.range), read))
        }
    }
}

/// A file, what is yet to be read of it, and one more chunk; nothing at the end of either.
type Chunk = Option<(Bytes, (File, Range<u64>))>;

fn read_chunk(file: File, range: Range<u64>) -> std::io::Result<Chunk> {
    let len = FILE_CHUNK_BYTES.min(range.end.saturating_sub(range.start));
    let mut chunk = vec![0; usize::try_from(len).unwrap_or(0)];
    let read = file.read_at(&mut chunk, range.start)?;
    chunk.truncate(read);
    let rest = range.start + read as u64..range.end;
    Ok((read > 0).then(|| (Bytes::from(chunk), (file, rest))))
}

#[cfg(test)]
mod tests;
