//! Renames that were interrupted are finished by who mounts the bucket next.
//!
//! What was being copied is copied to its end, and what was being removed is removed: nothing is ever removed that was not copied,
//! and the program that asked for it wanted it done. One that had failed is undone.

use super::journal::{Journal, NAME};
use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::moves::Work;
use std::sync::Arc;
use stoa_objects::s3::List;
use stoa_objects::{Error, Result};
use tokio::sync::oneshot;

impl Bucket {
    /// Finds the renames of directories that were interrupted, and has them go on in the background. When this returns, what they have
    /// copied and not removed yet is not shown twice. Those of a machine that may still be at it are waited for first, also in the
    /// background.
    ///
    /// # Errors
    /// Those of reading and writing their journals. Who may not list finds none.
    pub async fn resume(self: &Arc<Self>) -> Result<()> {
        if self.read_only {
            return Ok(());
        }
        for key in self.journals().await? {
            let Some(journal) = Journal::read(&self.s3, self.root().prefix(), &key).await? else { continue };
            let bucket = Arc::clone(self);
            match journal.record.owner.is_gone() {
                true => self.take_over(journal).await?,
                false => drop(tokio::spawn(async move { bucket.resume_if_left(journal, key).await })),
            }
        }
        Ok(())
    }

    async fn journals(&self) -> Result<Vec<String>> {
        let prefix = format!("{}{NAME}", self.root().prefix());
        let mut list = List { prefix, ..List::default() };
        let mut keys = Vec::new();
        loop {
            let page = match self.s3.list(&list).await {
                Err(Error::Denied { .. }) => return Ok(keys),
                page => page?,
            };
            keys.extend(page.objects.into_iter().map(|object| object.key));
            match page.next {
                Some(next) => list.continuation = Some(next),
                None => return Ok(keys),
            }
        }
    }

    /// Makes a rename that nobody is at one of this mount, unless another is first.
    async fn take_over(self: &Arc<Self>, mut journal: Journal) -> Result<()> {
        match journal.take_over().await {
            Err(Error::Conflict { .. }) => return Ok(()),
            taken => taken?,
        }
        let bucket = Arc::clone(self);
        let (begun, has_begun) = oneshot::channel();
        tokio::spawn(async move {
            let paths = vec![journal.record.from.clone(), journal.record.to.clone()];
            let working = bucket.moves.begin(Work::Move, paths).await;
            let nodes = bucket.below(&Directory::new(&journal.record.from));
            let mut drafts = bucket.stored_if_possible(&nodes).await;
            bucket.hide_for(&journal.record);
            // Who waits for it may be gone.
            let _ = begun.send(());
            // It is in the log, and nobody else is there to be told.
            let _ = bucket.carry_on(&working, journal, &mut drafts).await;
        });
        // Only this task's end could be missed.
        let _ = has_begun.await;
        Ok(())
    }

    /// Waits for as long as the one who began it would have said something, and takes a rename over if nothing was heard.
    async fn resume_if_left(self: Arc<Self>, journal: Journal, key: String) {
        let mut last = journal;
        loop {
            tokio::time::sleep(self.rename_lease).await;
            let now = match Journal::read(&self.s3, self.root().prefix(), &key).await {
                Ok(Some(now)) => now,
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, key, "whether a rename goes on elsewhere is not known");
                    continue;
                }
            };
            if now.etag != last.etag {
                last = now;
                continue;
            }
            tracing::warn!(
                key,
                from = now.record.from,
                to = now.record.to,
                "a rename was left by another machine: it goes on here"
            );
            if let Err(error) = self.take_over(now).await {
                tracing::error!(%error, key, "a rename that was left can't be taken over");
            }
            return;
        }
    }
}
