//! Commits: the one way from pending changes to the object store.

use super::Inner;
use super::pending::{Changes, Taken};
use crate::record::{RecordKey, SegmentRecord};
use crate::{Error, Result, SegmentId};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The side of the engine that commits run on. A commit under way is never abandoned halfway: it runs as a task.
impl Inner {
    /// Makes every transaction done before the call durable. Callers that wait at the same time share commits.
    ///
    /// # Errors
    /// [`Error::Refused`] while the store refuses. The commit goes on, for as long as it takes.
    pub(super) async fn commit_all(self: &Arc<Self>) -> Result<()> {
        let refusals = self.kv.refusals();
        // Who keeps asking while a commit is stuck must not fill memory with tasks that line up behind it.
        if self.uncommitted() > 0
            && let Some(refused) = refusals.current()
            && self.committing.try_lock().is_err()
        {
            return Err(refused);
        }
        tokio::select! {
            biased;
            done = self.commit_patiently() => done,
            refused = refusals.any() => Err(refused),
        }
    }

    /// Like [`Inner::commit_all`], but waits for as long as the store refuses.
    pub(super) async fn commit_patiently(self: &Arc<Self>) -> Result<()> {
        let target = self.pending.sequence();
        if self.durable.load(Ordering::Acquire) >= target {
            return self.check_writable();
        }
        let engine = Arc::clone(self);
        let commit = tokio::spawn(async move {
            let _one_at_a_time = engine.committing.lock().await;
            engine.check_writable()?;
            if engine.durable.load(Ordering::Acquire) >= target {
                return Ok(());
            }
            // Before the write, which waits when there are too many tables.
            engine.upkeep();
            engine.whole(engine.commit_taken()).await?;
            engine.kv.refusals().clear();
            engine.commits.fetch_add(1, Ordering::Relaxed);
            engine.upkeep();
            Ok(())
        });
        commit.await.map_err(|error| Error::Engine(format!("a commit ended early: {error}")))?
    }

    /// Runs a commit; one that fails, or ends halfway by a panic, is the last. The lock of commits is held until writing is stopped.
    async fn whole(&self, commit: impl Future<Output = Result<()>>) -> Result<()> {
        let mut halfway = Halfway { engine: self, ended: false };
        let done = commit.await;
        halfway.ended = true;
        if let Err(error) = &done {
            // What was taken may be in the store, or not: only a new open, which reads it, can tell.
            self.stop_writing(error);
        }
        done
    }

    async fn commit_taken(&self) -> Result<()> {
        let taken = self.pending.take();
        let counts = self.segment_records(&taken).await?;
        let superblock = (RecordKey::Superblock.encode(), Some(taken.superblock.encode()));
        let changes = taken.changes.iter().map(|(key, value)| (key.clone(), value.clone()));
        self.kv.write(changes.chain(counts).chain([superblock])).await?;
        self.pending.shown();
        self.kv.flush().await?;
        self.durable.store(taken.sequence, Ordering::Release);
        Ok(())
    }

    /// The records of all segments whose use changed. Only commits write them, one after the other, so what is stored is current.
    async fn segment_records(&self, taken: &Taken) -> Result<Changes> {
        let mut records: std::collections::HashMap<SegmentId, SegmentRecord> = taken
            .new_segments
            .iter()
            .map(|new| {
                (new.id, SegmentRecord { stored_bytes: new.stored_bytes, data_bytes: new.data_bytes, live_bytes: 0 })
            })
            .collect();
        for (segment, change) in &taken.live {
            let known = match records.get(segment) {
                Some(record) => Some(*record),
                None => self.segment_record(*segment).await?,
            };
            let Some(record) = known else { continue };
            let live_bytes = changed_live(*segment, record.live_bytes, *change);
            records.insert(*segment, SegmentRecord { live_bytes, ..record });
        }
        let mut changes: Changes = records
            .iter()
            .map(|(segment, record)| (RecordKey::Segment(*segment).encode(), Some(record.encode())))
            .collect();
        for segment in &taken.forgotten {
            changes.insert(RecordKey::Segment(*segment).encode(), None);
        }
        Ok(changes)
    }

    /// A stored record, if there is one that makes sense. Without it a segment is not counted, and nothing else is the worse for it:
    /// a segment is only deleted after a look at who names it.
    async fn segment_record(&self, segment: SegmentId) -> Result<Option<SegmentRecord>> {
        let value = match self.kv.get(&RecordKey::Segment(segment).encode()).await {
            Ok(Some(value)) => value,
            Ok(None) => {
                tracing::error!(%segment, "an extent names a segment that has no record; run `stoa fsck`");
                return Ok(None);
            }
            Err(error @ (Error::Corrupt(_) | Error::Missing(_))) => {
                tracing::error!(%segment, %error, "the record of a segment can't be read; run `stoa fsck`");
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match SegmentRecord::decode(value) {
            Ok(record) => Ok(Some(record)),
            Err(error) => {
                tracing::error!(%segment, %error, "the record of a segment makes no sense; run `stoa fsck`");
                Ok(None)
            }
        }
    }

    /// Lets an operation begin to change something: waits while too much is pending, refuses when the right to write is lost.
    pub(super) async fn admit(self: &Arc<Self>) -> Result<()> {
        self.check_writable()?;
        if self.is_crowded() {
            return self.commit_patiently().await;
        }
        if self.pending.bytes() >= self.limits.kick_bytes && self.committing.try_lock().is_ok() {
            let engine = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = engine.commit_patiently().await {
                    tracing::error!(%error, "a commit failed");
                }
            });
        }
        Ok(())
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.pending.bytes() >= self.limits.wait_bytes
    }

    pub(super) fn check_writable(&self) -> Result<()> {
        match self.stopped.get() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    pub(super) fn stop_writing(&self, error: &Error) {
        if self.stopped.set(error.clone()).is_ok() {
            tracing::error!(%error, "the volume takes no more changes; mount it again");
        }
    }
}

/// A commit that has not come to its end. Dropped so, by a panic, it stops all writing: what it took is nowhere else, and later commits
/// would make durable what followed without it.
struct Halfway<'a> {
    engine: &'a Inner,
    ended: bool,
}

impl Drop for Halfway<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.engine.stop_writing(&Error::Engine("a commit ended halfway".into()));
        }
    }
}

/// A wrong count must not stop the mount: it only says which segments are worth a look, so it stops at 0.
fn changed_live(segment: SegmentId, live_bytes: u64, change: i64) -> u64 {
    live_bytes.checked_add_signed(change).unwrap_or_else(|| {
        tracing::error!(%segment, live_bytes, change, "a segment would have less than nothing live; run `stoa fsck`");
        live_bytes.saturating_add_signed(change)
    })
}

#[cfg(test)]
mod tests;
