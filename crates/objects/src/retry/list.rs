//! Listings, taken up again after the last entry seen, and deletes.

use super::Core;
use super::tries::{Tries, broken};
use crate::classify::{Class, classify};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectMeta, Result};
use std::io;
use std::sync::Arc;

/// As many keys as S3 takes in one bulk delete.
const DELETES_MAX: usize = 1000;

struct Listing {
    core: Arc<Core>,
    prefix: Option<Path>,
    /// The last entry handed out, or where the caller began: entries come in the order of their keys.
    after: Option<Path>,
    entries: BoxStream<'static, Result<ObjectMeta>>,
}

pub(super) fn list(
    core: Arc<Core>,
    prefix: Option<Path>,
    after: Option<Path>,
) -> BoxStream<'static, Result<ObjectMeta>> {
    let entries = open(&core, prefix.as_ref(), after.as_ref());
    let listing = Listing { core, prefix, after, entries };
    stream::try_unfold(listing, |mut listing| async move {
        let entry = listing.entry().await?;
        Ok(entry.map(|entry| (entry, listing)))
    })
    .boxed()
}

fn open(core: &Core, prefix: Option<&Path>, after: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
    match after {
        Some(after) => core.inner.list_with_offset(prefix, after),
        None => core.inner.list(prefix),
    }
}

impl Listing {
    async fn entry(&mut self) -> Result<Option<ObjectMeta>> {
        let core = Arc::clone(&self.core);
        let mut tries = Tries::new(&core, "list", self.prefix.as_ref());
        loop {
            match core.attempt(0, async { self.entries.next().await.transpose() }).await {
                Ok(entry) => {
                    if let Some(meta) = &entry {
                        self.after = Some(meta.location.clone());
                    }
                    return Ok(tries.done(entry));
                }
                Err(error) => tries.again(error).await?,
            }
            self.entries = open(&core, self.prefix.as_ref(), self.after.as_ref());
        }
    }
}

pub(super) fn delete(core: Arc<Core>, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
    locations
        .try_ready_chunks(DELETES_MAX)
        .then(move |chunk| {
            let core = Arc::clone(&core);
            async move {
                match chunk {
                    Ok(paths) => delete_all(&core, paths).await,
                    // What was collected before the caller's own error is deleted all the same.
                    Err(failed) => {
                        let mut results = delete_all(&core, failed.0).await;
                        results.push(Err(failed.1));
                        results
                    }
                }
            }
        })
        .flat_map(stream::iter)
        .boxed()
}

/// Deletes `paths`; stops at the first that can't be. An object that is not there counts as deleted, as on S3.
async fn delete_all(core: &Core, paths: Vec<Path>) -> Vec<Result<Path>> {
    let mut results = Vec::with_capacity(paths.len());
    let mut tries = Tries::new(core, "delete", paths.first());
    loop {
        let left: Vec<Result<Path>> = paths.iter().skip(results.len()).cloned().map(Ok).collect();
        if left.is_empty() {
            return results;
        }
        let mut answers = core.inner.delete_stream(stream::iter(left).boxed());
        let error = loop {
            let Some(path) = paths.get(results.len()) else {
                break None;
            };
            match core.attempt(0, async { answers.next().await.transpose() }).await {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) if classify(&error) == Class::NotFound => {}
                Err(error) => break Some(error),
            }
            results.push(Ok(path.clone()));
            tries.progressed();
        };
        if results.len() == paths.len() {
            return results;
        }
        let error =
            error.unwrap_or_else(|| broken(io::ErrorKind::UnexpectedEof, "a bulk delete left keys out".to_owned()));
        if let Err(error) = tries.again(error).await {
            results.push(Err(error));
            return results;
        }
    }
}
