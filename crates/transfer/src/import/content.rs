//! The content of an object: fetched, verified, written.

use super::object::{Seen, Spot};
use super::{Import, Record};
use crate::attributes::Carried;
use crate::sum::Expected;
use crate::tally::add;
use crate::tree::Draft;
use crate::{Error, PIECE_BYTES, Result, blocking};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::GetRange;
use std::ops::Range;
use std::sync::Arc;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Listed, ObjectInfo, Read};
use stoa_vfs::Kind;
use tokio::sync::SemaphorePermit;

/// Links lead no further than this, in bytes (`PATH_MAX`).
const LINK_BYTES_MAX: u64 = 4096;

/// The longest object without a tag, in bytes.
const UNTAGGED_BYTES_MAX: u64 = 64 << 20;

/// A piece of an object. It has its place until it is written: so many are in memory at once, and no more. Those of one file get
/// their places in the order in which they are written, so the one that is next never waits for those after it.
struct Piece<'s> {
    info: ObjectInfo,
    start: u64,
    chunks: Vec<Bytes>,
    _place: SemaphorePermit<'s>,
}

/// What was fetched and verified.
struct Fetched {
    draft: Draft,
    carried: Carried,
    covered: bool,
}

impl Import {
    /// Copies the object, as it was listed.
    ///
    /// # Errors
    /// A conflict if it is another one by now.
    pub(super) async fn fetch(self: &Arc<Self>, spot: &Spot, seen: &Seen, listed: &Listed) -> Result<()> {
        let (import, above) = (Arc::clone(self), spot.above.clone());
        let dir = match &seen.dir {
            Some(dir) => Arc::clone(dir),
            None => blocking(move || import.tree.make(&above)).await?,
        };
        let mut fetched = self.content(spot, Arc::clone(&dir), listed, false).await?;
        if fetched.is_none() {
            // Damaged on its way, perhaps; or the tag is no MD5 on this server, and it keeps a checksum beside it.
            tracing::warn!(key = listed.key, "the bytes don't have the checksum of the object: fetching it again");
            fetched = self.content(spot, dir, listed, true).await?;
        }
        let fetched = fetched.ok_or_else(|| {
            Error::Refused(
                "its bytes don't have the checksum that the server says; --unverified copies it all the same"
                    .to_owned(),
            )
        })?;
        let (import, spot, stat, record) = (Arc::clone(self), spot.clone(), seen.stat, Record::of(listed));
        let size = listed.size;
        blocking(move || {
            let Fetched { draft, carried, covered } = fetched;
            let left_out = draft.dress(&carried, record.as_ref())?;
            let opens_again = draft.opens_again();
            if !opens_again {
                draft.sync()?;
            }
            draft.place(&spot.name, stat.as_ref())?;
            add(&import.tally.attributes_left_out, left_out);
            add(&import.tally.unverifiable, u64::from(!covered));
            add(&import.tally.files, 1);
            if opens_again {
                import.written.lock().push(spot.path());
            }
            tracing::trace!(size, "copied");
            Ok(())
        })
        .await
    }

    /// Fetches it into a file that is not in its place yet. `None` if the bytes are not the right ones.
    async fn content(
        self: &Arc<Self>,
        spot: &Spot,
        dir: crate::tree::Dir,
        listed: &Listed,
        again: bool,
    ) -> Result<Option<Fetched>> {
        // Without a tag, two answers might be of two contents; and one answer has to fit into memory.
        let step = if listed.etag.is_some() { PIECE_BYTES } else { listed.size.max(1) };
        if step > UNTAGGED_BYTES_MAX {
            let text = "the server gives no ETag of it, and it is too long to be read with one request (64 MiB)";
            return Err(Error::Refused(text.to_owned()));
        }
        let starts = (0..listed.size.max(1)).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        let pieces = starts.map(|start| self.piece(listed, start..(start + step).min(listed.size)));
        let mut pieces = stream::iter(pieces).buffered(self.options.parallel.max(1));
        let first = pieces.try_next().await?.ok_or_else(|| Error::Refused("it has no content".to_owned()))?;
        let carried = Carried::by_object(&first.info.headers, first.info.modified);
        let mut expected = match (self.options.unverified, again, &first.info.etag) {
            (true, ..) => Expected::Nothing,
            (false, true, Some(etag)) => Expected::kept(&self.s3, &listed.key, etag).await?,
            (false, ..) => Expected::of(&self.s3, &listed.key, &first.info).await?,
        };
        if again && expected == Expected::Nothing {
            expected = Expected::of(&self.s3, &listed.key, &first.info).await?;
        }
        let mut hash = expected.hash();
        let is_link = carried.attributes.kind == Some(Kind::Symlink) && listed.size <= LINK_BYTES_MAX;
        if is_link {
            let target: Vec<u8> = first.chunks.concat();
            hash.update(&target);
            if !expected.holds(hash) {
                return Ok(None);
            }
            add(&self.tally.bytes, listed.size);
            let temporary = spot.temporary.clone();
            let draft = blocking(move || Draft::link(dir, temporary, &target)).await?;
            return Ok(Some(Fetched { draft, carried, covered: expected != Expected::Nothing }));
        }
        let (temporary, mode) = (spot.temporary.clone(), carried.attributes.mode);
        let (mut draft, mut next) = (None, Some(first));
        while let Some(piece) = next {
            self.tally.go_on()?;
            let (dir, temporary, import) = (Arc::clone(&dir), temporary.clone(), Arc::clone(self));
            let Piece { start, chunks, _place: place, .. } = piece;
            (draft, hash) = blocking(move || {
                let draft = draft.map_or_else(|| Draft::file(dir, temporary, mode), Ok)?;
                let mut at = start;
                for chunk in &chunks {
                    hash.update(chunk);
                    draft.write(chunk, at)?;
                    at += chunk.len() as u64;
                    add(&import.tally.bytes, chunk.len() as u64);
                }
                Ok((Some(draft), hash))
            })
            .await?;
            drop(place);
            next = pieces.try_next().await?;
        }
        let covered = expected != Expected::Nothing;
        let draft = draft.filter(|_| expected.holds(hash));
        Ok(draft.map(|draft| Fetched { draft, carried, covered }))
    }

    async fn piece(&self, listed: &Listed, range: Range<u64>) -> Result<Piece<'_>> {
        let place = self.places.acquire().await;
        let place = place.map_err(|closed| Error::Refused(closed.to_string()))?;
        self.tally.go_on()?;
        let start = range.start;
        let whole = start == 0 && range.end == listed.size;
        let read =
            Read { range: (!whole).then_some(GetRange::Bounded(range)), if_match: listed.etag.clone(), version: None };
        let got = self.s3.get(&listed.key, &read).await?;
        // A server may not know the condition.
        if got.info.size != listed.size || (listed.etag.is_some() && got.info.etag != listed.etag) {
            let detail = format!("it has the tag {:?} and not {:?}", got.info.etag, listed.etag);
            return Err(ObjectsError::Conflict { op: format!("get {:?}", listed.key), detail }.into());
        }
        let chunks = got.body.try_collect().await?;
        Ok(Piece { info: got.info, start, chunks, _place: place })
    }
}
