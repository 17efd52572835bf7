//! Commits: the one way from pending changes to the object store.

use super::Inner;
use super::pending::{Changes, Taken};
use crate::record::{RecordKey, SegmentRecord};
use crate::{Error, Result, SegmentId};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes of pending records at which a commit starts unasked.
const KICK_BYTES: usize = 16 << 20;

/// Bytes of pending records at which operations wait for a commit.
const WAIT_BYTES: usize = 64 << 20;

/// The side of the engine that commits run on. A commit under way is never abandoned halfway: it runs as a task.
impl Inner {
    /// Makes every transaction done before the call durable. Callers that wait at the same time share commits.
    pub(super) async fn commit_all(self: &Arc<Self>) -> Result<()> {
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
            let done = engine.commit_taken().await;
            if let Err(error) = &done {
                // What was taken may be in the store, or not: only a new open, which reads it, can tell.
                engine.stop_writing(error);
            }
            done
        });
        commit.await.map_err(|error| Error::Engine(format!("a commit ended early: {error}")))??;
        self.upkeep();
        Ok(())
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
            let record = match records.get(segment) {
                Some(record) => *record,
                None => self.segment_record(*segment).await?,
            };
            let live_bytes = record.live_bytes.checked_add_signed(*change).ok_or_else(|| {
                Error::Corrupt(format!(
                    "segment {segment} would have {change} more than {} live bytes",
                    record.live_bytes
                ))
            })?;
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

    async fn segment_record(&self, segment: SegmentId) -> Result<SegmentRecord> {
        let value = self.kv.get(&RecordKey::Segment(segment).encode()).await?;
        let value =
            value.ok_or_else(|| Error::Corrupt(format!("an extent names segment {segment}, which has no record")))?;
        SegmentRecord::decode(value).map_err(|error| Error::Corrupt(format!("segment {segment}: {error}")))
    }

    /// Lets an operation begin to change something: waits while too much is pending, refuses when the right to write is lost.
    pub(super) async fn admit(self: &Arc<Self>) -> Result<()> {
        self.check_writable()?;
        let bytes = self.pending.bytes();
        if bytes >= WAIT_BYTES {
            return self.commit_all().await;
        }
        if bytes >= KICK_BYTES && self.committing.try_lock().is_ok() {
            let engine = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = engine.commit_all().await {
                    tracing::error!(%error, "a commit failed");
                }
            });
        }
        Ok(())
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
