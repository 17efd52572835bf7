//! Publishing: naming what has arrived in the store, in order.

use super::{AGAIN, Log, Packed, Parcel};
use crate::file::{File, Frozen};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_meta::{FileUpdate, NewSegment};
use stoa_vfs::{Error, Result};
use tokio::sync::mpsc::Receiver;

impl Log {
    /// Publishes what the packer hands over, until it is gone or the right to write is lost.
    pub(super) async fn publish_all(self: Arc<Self>, mut packed: Receiver<Packed>) {
        while let Some(packed) = packed.recv().await {
            let done = match packed {
                Packed::Segment { upload, parcels, settled } => match upload.await {
                    Ok(segment) => {
                        self.uploads_running.fetch_sub(1, Ordering::Relaxed);
                        let published = self.publish(&[segment], parcels).await;
                        self.unpublished_from.store(settled.0, Ordering::Release);
                        published
                    }
                    Err(error) => Err(Error::Io(format!("an upload ended early: {error}"))),
                },
                Packed::Parcels(parcels) => self.publish(&[], parcels).await,
                Packed::Barrier(reached) => {
                    // Who waits may have given up.
                    let _ = reached.send(());
                    Ok(())
                }
            };
            if let Err(error) = done {
                return self.fail(error);
            }
        }
    }

    async fn publish(&self, segments: &[NewSegment], parcels: Vec<Parcel>) -> Result<()> {
        self.meta.publish(segments, Vec::new()).await?;
        for parcel in parcels {
            match parcel {
                Parcel::Layer { file, frozen, update } => {
                    self.publish_layer(&file, &frozen, update).await?;
                    self.backlog.shrank(frozen.layer.data_bytes());
                }
                Parcel::Move { moved, new } => match self.meta.replace(moved.ino, &moved.old, new).await {
                    Err(error) if self.is_of_one_file(&error) || is_missing(&error) => {
                        tracing::error!(%error, ino = %moved.ino, "data of a file stay where they are; run `stoa fsck`");
                    }
                    replaced => drop(replaced?),
                },
            }
        }
        Ok(())
    }

    /// Whether the records of one file are damaged, and all others go on.
    fn is_of_one_file(&self, error: &stoa_meta::Error) -> bool {
        matches!(error, stoa_meta::Error::Corrupt(_)) && self.meta.check().is_ok()
    }

    /// Publishes one layer, once those before it of the same file are. A file whose records are damaged gives up what was written to it.
    ///
    /// # Errors
    /// When nothing can be published any more.
    pub(crate) async fn publish_layer(
        &self,
        file: &Arc<File>,
        frozen: &Arc<Frozen>,
        mut update: FileUpdate,
    ) -> Result<()> {
        loop {
            let turn = file.published.notified();
            let first = file.lock().frozen.front().is_none_or(|first| Arc::ptr_eq(first, frozen));
            if first {
                break;
            }
            turn.await;
        }
        let _times = file.times.lock().await;
        let modified = {
            let state = file.lock();
            if state.check().is_err() {
                return Ok(());
            }
            state.modified
        };
        self.fragmented.published(&update);
        update.modified = modified;
        match self.publish_found(&update).await {
            Err(error) if self.is_of_one_file(&error) => {
                tracing::error!(%error, ino = %file.ino, "what was written to a file is lost; run `stoa fsck`");
                file.lock().give_up(error.into());
            }
            published => {
                published?;
                let mut state = file.lock();
                state.generation += 1;
                if state.modified == modified {
                    state.modified = None;
                }
                if state.frozen.front().is_some_and(|first| Arc::ptr_eq(first, frozen)) {
                    state.frozen.pop_front();
                }
            }
        }
        file.published.notify_waiters();
        self.files.cleaned(file);
        Ok(())
    }

    /// Publishes an update, which exists nowhere else: what is missing for that is waited for, however long that takes.
    async fn publish_found(&self, update: &FileUpdate) -> stoa_meta::Result<()> {
        loop {
            match self.meta.publish(&[], vec![update.clone()]).await {
                Err(error) if is_missing(&error) => {
                    tracing::error!(%error, ino = %update.ino, "what was written to a file waits");
                    tokio::time::sleep(AGAIN).await;
                }
                published => return published,
            }
        }
    }

    /// Returns once `last`, and with it every layer of the file before it, is published. It must have been submitted before a
    /// drain: a layer that came later stays in the segment being filled, and nobody else may have that sent.
    ///
    /// # Errors
    /// When nothing can be published any more, or what was written to the file had to be given up.
    pub(crate) async fn settle(&self, file: &File, last: &Arc<Frozen>) -> Result<()> {
        let mut failed = self.failed.subscribe();
        loop {
            let change = file.published.notified();
            {
                let state = file.lock();
                state.check()?;
                if !state.frozen.iter().any(|frozen| Arc::ptr_eq(frozen, last)) {
                    return Ok(());
                }
            }
            tokio::select! {
                () = change => {}
                _ = failed.wait_for(Option::is_some) => self.check()?,
            }
        }
    }
}

/// Whether records can't be found that may be found later.
fn is_missing(error: &stoa_meta::Error) -> bool {
    matches!(error, stoa_meta::Error::Missing(_))
}
