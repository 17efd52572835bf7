//! Uploading segments. An upload is tried for as long as the mount lives: its bytes exist nowhere else.

use super::Log;
use crate::layout::segment_path;
use crate::segment::Sealed;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stoa_meta::NewSegment;
use tokio::task::JoinHandle;

/// Between two tries of an upload that the store refuses (what passes by itself is tried again by the layers below).
const AGAIN: Duration = Duration::from_secs(2);

impl Log {
    /// Starts an upload, when there is room for one more; `None` when the log is closed.
    pub(super) async fn upload(&self, sealed: Sealed) -> Option<JoinHandle<NewSegment>> {
        let room = Arc::clone(&self.uploads).acquire_owned().await.ok()?;
        self.uploads_running.fetch_add(1, Ordering::Relaxed);
        let store = Arc::clone(&self.store);
        let stuck = self.stuck.clone();
        Some(tokio::spawn(async move {
            let Sealed { segment, parts } = sealed;
            let payload: PutPayload = parts.into_iter().collect();
            while let Err(error) = put(store.as_ref(), segment, payload.clone()).await {
                tracing::error!(%error, segment = %segment.id, "a segment can't be uploaded; it is tried again");
                stuck.send_replace(Some(format!("segment {} can't be uploaded: {error}", segment.id)));
                tokio::time::sleep(AGAIN).await;
            }
            stuck.send_if_modified(|reason| reason.take().is_some());
            drop(room);
            segment
        }))
    }
}

async fn put(store: &dyn ObjectStore, segment: NewSegment, payload: PutPayload) -> object_store::Result<()> {
    // Overwriting makes a repeated PUT harmless: only this mount writes this number, and only these bytes.
    store.put(&segment_path(segment.id), payload).await.map(|_| ())
}
