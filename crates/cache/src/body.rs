//! The answer to a ranged GET, cut into pieces while it arrives.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use futures::stream::BoxStream;

use crate::{Error, Object, Piece, Result, Source};

/// The bytes of one GET, in order.
///
/// Each piece is copied into a buffer of its own size, so that keeping a piece never keeps the rest of the answer, and
/// what lies between pieces is never held.
pub(crate) struct Body {
    key: Arc<str>,
    stream: BoxStream<'static, Result<Bytes>>,
    chunk: Bytes,
    position: u64,
    received: u64,
}

impl Body {
    /// Asks the store for a range of an object.
    ///
    /// # Errors
    /// What the store says.
    pub(crate) async fn get(source: &dyn Source, object: &Object, range: Range<u64>) -> Result<Self> {
        let position = range.start;
        let stream = source.get(object, range).await?;
        Ok(Self { key: Arc::clone(&object.key), stream, chunk: Bytes::new(), position, received: 0 })
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
                    return Err(Error::Short { key: Arc::clone(&self.key), wanted, got: self.position });
                }
            }
        }
        let len = usize::try_from(len_max).unwrap_or(usize::MAX).min(self.chunk.len());
        let part = self.chunk.split_to(len);
        self.position += len as u64;
        Ok(part)
    }
}
