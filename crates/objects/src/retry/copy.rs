//! Copies and renames inside the store.

use super::Core;
use super::get::get;
use super::tries::{Tries, broken};
use crate::classify::{Class, classify};
use futures::StreamExt;
use object_store::path::Path;
use object_store::{CopyMode, CopyOptions, Error, GetOptions, ObjectMeta, RenameOptions, RenameTargetMode, Result};
use std::io;
use std::sync::Arc;

/// A copy of a large object takes as long as an upload of this many bytes.
const SLOW: u64 = 64 << 20;

pub(super) async fn copy(core: &Arc<Core>, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
    let mut tries = Tries::new(core, "copy", Some(to));
    loop {
        let error = match core.attempt(SLOW, core.inner.copy_opts(from, to, options.clone())).await {
            // A copy may be answered with 200 and an error in the body, which not every client notices.
            Ok(()) => match same_size(core, from, to).await? {
                true => return tries.end(),
                false => broken(io::ErrorKind::InvalidData, "the copy does not have the size of its source".to_owned()),
            },
            Err(error) => error,
        };
        let created = options.mode == CopyMode::Create && classify(&error) == Class::Exists;
        if created && tries.effect_unknown() && same_bytes(core, from, to).await? {
            return tries.end();
        }
        tries.again(error).await?;
    }
}

pub(super) async fn rename(core: &Arc<Core>, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
    let mut tries = Tries::new(core, "rename", Some(to));
    loop {
        let error = match core.attempt(SLOW, core.inner.rename_opts(from, to, options.clone())).await {
            Ok(()) => return tries.end(),
            Err(error) => error,
        };
        if tries.effect_unknown() {
            let class = classify(&error);
            let gone = head(core, from).await?.is_none();
            // Source gone and target there: an earlier attempt has done it.
            if class == Class::NotFound && gone && head(core, to).await?.is_some() {
                return tries.end();
            }
            // Made of copy and delete, the copy had been done.
            let create = options.target_mode == RenameTargetMode::Create;
            if create && class == Class::Exists && !gone && same_bytes(core, from, to).await? {
                return object_store::ObjectStoreExt::delete(core.inner.as_ref(), from).await;
            }
        }
        tries.again(error).await?;
    }
}

async fn head(core: &Arc<Core>, path: &Path) -> Result<Option<ObjectMeta>> {
    match get(core, path, GetOptions { head: true, ..GetOptions::default() }).await {
        Ok(result) => Ok(Some(result.meta)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn same_size(core: &Arc<Core>, a: &Path, b: &Path) -> Result<bool> {
    let (a, b) = (head(core, a).await?, head(core, b).await?);
    // The source may have been deleted since; then there is nothing to compare with.
    Ok(a.is_none_or(|a| b.is_some_and(|b| a.size == b.size)))
}

/// Whether two objects have the same bytes, and any at all: of two empty ones nobody can tell who made them.
async fn same_bytes(core: &Arc<Core>, a: &Path, b: &Path) -> Result<bool> {
    let a = get(core, a, GetOptions::default()).await?;
    let b = get(core, b, GetOptions::default()).await?;
    if a.meta.size != b.meta.size || a.meta.size == 0 {
        return Ok(false);
    }
    let (mut a, mut b) = (a.into_stream(), b.into_stream());
    let (mut left, mut right) = (bytes::Bytes::new(), bytes::Bytes::new());
    loop {
        if left.is_empty() {
            match a.next().await.transpose()? {
                Some(chunk) => left = chunk,
                None => return Ok(right.is_empty()),
            }
        }
        if right.is_empty() {
            match b.next().await.transpose()? {
                Some(chunk) => right = chunk,
                None => return Ok(left.is_empty()),
            }
        }
        let both = left.len().min(right.len());
        if left.split_to(both) != right.split_to(both) {
            return Ok(false);
        }
    }
}
