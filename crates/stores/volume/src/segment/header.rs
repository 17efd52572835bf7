//! The header of a segment: what an object is, whatever it is called.

use super::{HEADER_BYTES, HEADER_MAGIC, ReadError};
use bytes::{BufMut, Bytes, BytesMut};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use stoa_meta::SegmentId;

/// The header of a segment.
pub(crate) fn header(id: SegmentId) -> Bytes {
    let mut header = BytesMut::with_capacity(HEADER_BYTES);
    header.put_slice(HEADER_MAGIC);
    header.put_u64_le(id.0);
    header.freeze()
}

/// Reads the header of the object at `path`, which is `size` bytes long, and compares it.
///
/// # Errors
/// [`ReadError::Corrupt`] if it is not that of segment `id`.
pub(crate) async fn check_header(
    store: &dyn ObjectStore,
    path: &Path,
    size: u64,
    id: SegmentId,
) -> Result<(), ReadError> {
    let header_bytes = u64::try_from(HEADER_BYTES).unwrap_or(u64::MAX);
    if size < header_bytes {
        return Err(ReadError::Corrupt("it is cut short"));
    }
    let found = store.get_range(path, 0..header_bytes).await?;
    if found.get(..HEADER_MAGIC.len()) != Some(HEADER_MAGIC) {
        return Err(ReadError::Corrupt("its header is not one of a segment"));
    }
    if found != header(id) {
        return Err(ReadError::Corrupt("its header is that of another segment"));
    }
    Ok(())
}
