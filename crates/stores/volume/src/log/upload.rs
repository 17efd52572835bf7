//! Uploading segments. An upload is tried for as long as the mount lives: its bytes exist nowhere else.

use super::{AGAIN, Log};
use crate::layout::segment_path;
use crate::segment::Sealed;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_meta::NewSegment;
use stoa_vfs::Error;
use tokio::task::JoinHandle;

impl Log {
    /// Starts an upload, when there is room for one more; `None` when the log is closed.
    pub(super) async fn upload(&self, sealed: Sealed) -> Option<JoinHandle<NewSegment>> {
        let room = Arc::clone(&self.uploads).acquire_owned().await.ok()?;
        self.uploads_running.fetch_add(1, Ordering::Relaxed);
        let store = Arc::clone(&self.store);
        let (refused, failed) = (self.refused.clone(), self.failed.clone());
        Some(tokio::spawn(async move {
            let Sealed { segment, parts } = sealed;
            let payload: PutPayload = parts.into_iter().collect();
            loop {
                match put(store.as_ref(), segment, &payload).await {
                    Ok(Put::Done) => break,
                    Ok(Put::Foreign) => {
                        let error = foreign(segment);
                        tracing::error!(%error, "nothing can be written to the volume any more");
                        failed.send_if_modified(|failed| failed.is_none().then(|| *failed = Some(error)).is_some());
                        // What this task returns would be published, and who waits for it has been told by now.
                        drop((store, payload));
                        return std::future::pending().await;
                    }
                    Err(error) => {
                        tracing::error!(%error, segment = %segment.id, "a segment can't be uploaded; it is tried again");
                        let reason = format!("segment {} can't be uploaded: {error}", segment.id);
                        refused.send_modify(|refused| drop(refused.insert(segment.id, reason)));
                        tokio::time::sleep(AGAIN).await;
                    }
                }
            }
            // Only of this one: another may still be refused.
            refused.send_if_modified(|refused| refused.remove(&segment.id).is_some());
            drop(room);
            segment
        }))
    }
}

/// What became of an upload.
enum Put {
    /// The segment is there.
    Done,
    /// Something else is there in its place.
    Foreign,
}

/// Creates the object of a segment. Its number is this mount's alone, unless the owner files were removed by hand and epochs began
/// anew: then another segment is there, which must never be overwritten. Our own is there when an earlier try arrived and its
/// answer did not.
async fn put(store: &dyn ObjectStore, segment: NewSegment, payload: &PutPayload) -> object_store::Result<Put> {
    let path = segment_path(segment.id);
    let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    match store.put_opts(&path, payload.clone(), options).await {
        Err(object_store::Error::AlreadyExists { .. }) => {
            let found = store.get(&path).await?.bytes().await?;
            Ok(if is_same(&found, payload) { Put::Done } else { Put::Foreign })
        }
        result => result.map(|_| Put::Done),
    }
}

fn is_same(found: &[u8], payload: &PutPayload) -> bool {
    let rest = payload.iter().try_fold(found, |found, part| found.strip_prefix(part.as_ref()));
    rest.is_some_and(<[u8]>::is_empty)
}

fn foreign(segment: NewSegment) -> Error {
    Error::Io(format!(
        "the object {} was there before it was written, with other content; it was left alone. Were objects in owners/ removed?",
        segment_path(segment.id)
    ))
}

#[cfg(test)]
mod tests;
