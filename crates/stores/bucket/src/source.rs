//! Where the cache fetches pieces of objects from.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::GetRange;
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::sync::Arc;
use stoa_cache::{Decode, Error, Object, Piece, Result, Source};
use stoa_objects::s3::{Read, S3Bucket};
use stoa_objects::{Error as ObjectsError, Result as ObjectsResult};

use crate::found::Version;
use crate::view::View;

/// Objects are cached in pieces of this length, in bytes: what a small read fetches.
pub(crate) const PIECE_BYTES: u32 = 128 << 10;

/// The objects of a bucket, of one content each.
#[derive(Debug)]
pub(crate) struct Versions(pub(crate) View);

#[async_trait]
impl Source for Versions {
    async fn get(&self, object: &Object, range: Range<u64>) -> Result<BoxStream<'static, Result<Bytes>>> {
        let if_match = object.etag.as_deref().map(str::to_owned);
        let read = Read { range: Some(GetRange::Bounded(range)), if_match: if_match.clone(), version: None };
        let got = self.0.get(&object.key, &read).await.map_err(Error::store)?;
        // A server may not know the condition.
        if got.info.etag != if_match {
            let detail = format!("it has the tag {:?} and not {if_match:?}", got.info.etag);
            return Err(Error::store(ObjectsError::Conflict { op: format!("get {:?}", object.key), detail }));
        }
        Ok(got.body.map_err(Error::store).boxed())
    }
}

/// The content of an object as the cache knows it; `None` if it has no tag, so that nothing would tell it from another.
///
/// The cache takes two objects with one id for the same. So the id is as much of a SHA-256 as it holds, of all that names the
/// content: that two have the same is less likely than that a memory cell or the network lies undetected, and nobody who can
/// choose keys and tags can bring it about.
pub(crate) fn cached(version: &Version) -> Option<Object> {
    let etag = version.etag.clone()?;
    let mut hash = Sha256::new();
    // With its length before the key, no other key and tag make the same text.
    hash.update((version.key.len() as u64).to_le_bytes());
    hash.update(version.key.as_bytes());
    hash.update(version.size.to_le_bytes());
    hash.update(etag.as_bytes());
    let id = hash.finalize().first_chunk::<16>().map(|id| u128::from_le_bytes(*id))?;
    Some(Object { id, key: Arc::clone(&version.key), etag: Some(etag) })
}

/// Whether an object, or a version of it, has this content, as the store says just now.
pub(crate) async fn has(s3: &S3Bucket, key: &str, version: Option<&str>, etag: &str) -> ObjectsResult<bool> {
    match s3.head(key, version).await {
        Ok(info) => Ok(info.etag.as_deref() == Some(etag)),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// The pieces of an object of `size` bytes that a range lies in.
pub(crate) fn pieces(range: Range<u64>, size: u64) -> Vec<Piece> {
    let step = u64::from(PIECE_BYTES);
    let first = range.start / step * step;
    let end = range.end.min(size);
    let piece = |offset: u64| {
        let len = u32::try_from(step.min(size - offset)).unwrap_or(PIECE_BYTES);
        Piece { offset, len, weight: len }
    };
    (first..end).step_by(PIECE_BYTES as usize).map(piece).collect()
}

/// Bytes are kept as they are stored.
#[derive(Debug)]
pub(crate) struct Raw;

impl Decode for Raw {
    fn decode(&self, _: usize, stored: Bytes) -> std::result::Result<Bytes, String> {
        Ok(stored)
    }
}

#[cfg(test)]
mod tests;
