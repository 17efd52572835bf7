//! The answer to a ranged GET, cut into pieces while it arrives.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use futures::stream::{BoxStream, try_unfold};
use object_store::path::Path;
use object_store::{GetOptions, GetResult, GetResultPayload, ObjectStore};
use tokio::task;

use crate::{Error, Piece, Result};

/// How much of a local file is read at a time.
const FILE_CHUNK_BYTES: u64 = 512 << 10;

/// The bytes of one GET, in order.
///
/// Each piece is copied into a buffer of its own size, so that keeping a piece never keeps the rest of the answer, and
/// what lies between pieces is never held.
pub(crate) struct Body {
    path: Path,
    stream: BoxStream<'static, object_store::Result<Bytes>>,
    chunk: Bytes,
    position: u64,
    received: u64,
}

impl Body {
    /// Asks the store for a range of an object.
    ///
    /// # Errors
    /// What the store says, or [`Error::Short`] when the answer begins elsewhere.
    pub(crate) async fn get(store: &dyn ObjectStore, path: &Path, range: Range<u64>) -> Result<Self> {
        let options = GetOptions::new().with_range(Some(range.clone()));
        let answer = store.get_opts(path, options).await?;
        if answer.range.start != range.start {
            return Err(Error::Short { path: path.clone(), wanted: range.end, got: answer.range.start });
        }
        let stream = stream(answer);
        Ok(Self { path: path.clone(), stream, chunk: Bytes::new(), position: range.start, received: 0 })
    }

    /// The stored bytes of a piece that does not begin before the last one ended.
    ///
    /// # Errors
    /// [`Error::Short`] when the answer ends first, or what the store says.
    pub(crate) async fn piece(&mut self, piece: &Piece) -> Result<Bytes> {
        let end = piece.end();
        while self.position < piece.offset {
            let skipped = self.some(piece.offset - self.position, end).await?;
            drop(skipped);
        }
        let mut stored = BytesMut::with_capacity(usize::try_from(piece.len).unwrap_or(usize::MAX));
        while self.position < end {
            let part = self.some(end - self.position, end).await?;
            stored.extend_from_slice(&part);
        }
        Ok(stored.freeze())
    }

    /// How many bytes have come from the store.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// The next bytes, at least one and at most `len_max`.
    async fn some(&mut self, len_max: u64, wanted: u64) -> Result<Bytes> {
        while self.chunk.is_empty() {
            match self.stream.try_next().await? {
                Some(chunk) => {
                    self.received += chunk.len() as u64;
                    self.chunk = chunk;
                }
                None => {
                    return Err(Error::Short { path: self.path.clone(), wanted, got: self.position });
                }
            }
        }
        let len = usize::try_from(len_max).unwrap_or(usize::MAX).min(self.chunk.len());
        let part = self.chunk.split_to(len);
        self.position += len as u64;
        Ok(part)
    }
}

/// The bytes of an answer. Those of a local file are read in large chunks: `object_store` makes a trip to another
/// thread for every 8 KiB.
fn stream(answer: GetResult) -> BoxStream<'static, object_store::Result<Bytes>> {
    match answer.payload {
        GetResultPayload::Stream(stream) => stream,
        GetResultPayload::File(file, _) => {
            let read = |(file, range)| async move {
                match task::spawn_blocking(move || read_chunk(file, range)).await {
                    Ok(read) => read.map_err(|error| failed(Box::new(error))),
                    Err(error) => Err(failed(Box::new(error))),
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

fn failed(source: Box<dyn std::error::Error + Send + Sync>) -> object_store::Error {
    object_store::Error::Generic { store: "local file", source }
}

#[cfg(test)]
mod tests;
