//! Reading files at offsets.

use super::errors;
use super::layout::{Layout, object_meta, plain_file};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{Attributes, GetOptions, GetRange, GetResult, GetResultPayload, ObjectMeta, Result};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Up to this length a range is read at once, in the same hop to a blocking thread that opens the file.
const AT_ONCE_MAX: u64 = 1 << 20;

/// The chunks of a longer one.
const CHUNK: u64 = 1 << 20;

fn open(layout: &Layout, key: &Path) -> Result<(File, ObjectMeta)> {
    let file = File::open(layout.file(key)?).map_err(|error| errors::of(key, error))?;
    let meta = plain_file(key, file.metadata().map_err(|error| errors::of(key, error))?)?;
    let meta = object_meta(key, &meta)?;
    Ok((file, meta))
}

pub(super) fn get(layout: &Layout, key: &Path, options: &GetOptions) -> Result<GetResult> {
    let (file, meta) = open(layout, key)?;
    options.check_preconditions(&meta)?;
    let range = match &options.range {
        Some(range) => checked(range, meta.size)?,
        None => 0..meta.size,
    };
    let length = range.end - range.start;
    let payload = if options.head {
        stream::empty().boxed()
    } else if length <= AT_ONCE_MAX {
        let bytes = read(&file, &range).map_err(|error| errors::of(key, error))?;
        stream::once(async move { Ok(bytes) }).boxed()
    } else {
        chunks(Arc::new(file), key.clone(), range.clone())
    };
    Ok(GetResult {
        payload: GetResultPayload::Stream(payload),
        meta,
        range,
        attributes: Attributes::default(),
        extensions: Default::default(),
    })
}

pub(super) fn ranges(layout: &Layout, key: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let (file, meta) = open(layout, key)?;
    let one = |range: &Range<u64>| {
        let range = checked(&GetRange::Bounded(range.clone()), meta.size)?;
        read(&file, &range).map_err(|error| errors::of(key, error))
    };
    ranges.iter().map(one).collect()
}

/// What `range` means for an object of `size` bytes.
fn checked(range: &GetRange, size: u64) -> Result<Range<u64>> {
    range.as_range(size).map_err(|error| errors::invalid(error.to_string()))
}

fn read(file: &File, range: &Range<u64>) -> io::Result<Bytes> {
    let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    let mut buffer = BytesMut::zeroed(length);
    file.read_exact_at(&mut buffer, range.start)?;
    Ok(buffer.freeze())
}

fn chunks(file: Arc<File>, key: Path, range: Range<u64>) -> BoxStream<'static, Result<Bytes>> {
    stream::try_unfold(range, move |left| {
        let (file, key) = (Arc::clone(&file), key.clone());
        async move {
            if left.is_empty() {
                return Ok(None);
            }
            let end = left.end.min(left.start + CHUNK);
            let chunk = left.start..end;
            let bytes = tokio::task::spawn_blocking(move || read(&file, &chunk)).await?;
            let bytes = bytes.map_err(|error| errors::of(&key, error))?;
            Ok(Some((bytes, end..left.end)))
        }
    })
    .boxed()
}
