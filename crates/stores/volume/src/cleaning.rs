//! Giving space back: segments with little left alive are emptied, and dead ones deleted.
//!
//! Deleting is the one thing here that can lose data. Only [`delete_dead`](Volume) deletes; it takes a [`CompleteScan`], which
//! exists only if *everything* that could name the segment was looked at, without any error, in a state that is durable.

mod emptying;
mod moving;
mod namers;

pub(crate) use moving::{Portion, unread};

use self::namers::Namers;
use crate::layout::{DATA, segment_of, segment_path};
use crate::log::Settled;
use crate::volume::Volume;
use crate::{Error, GcReport, Progress, Result};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use stoa_cache::Reservation;
use stoa_meta::{Extent, NewSegment, SegmentId, SegmentUse};
use stoa_vfs::Ino;

/// How often it is looked whether there is something to do; it costs no request when nothing was changed.
const INTERVAL: Duration = Duration::from_secs(10);

/// A segment is emptied when less than one part in this many of it is alive.
const SPARSE: u64 = 2;

/// Segments that are looked at together: a file that can name many of them is gone through once.
const TOGETHER: usize = 32;

/// How long a deletion waits between two looks at whether reads that began before it have ended.
const READS_POLL: Duration = Duration::from_millis(5);

/// Data on its way to another segment.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) ino: Ino,
    /// Where in the file it is.
    pub(crate) offset: u64,
    pub(crate) data: Vec<Bytes>,
    /// The extents that named it: they are replaced only if they are still the same.
    pub(crate) old: Vec<Extent>,
    pub(crate) _reserved: Reservation,
}

/// Reads under way: what they may still fetch is not deleted.
#[derive(Debug, Default)]
pub(crate) struct Reads(Mutex<Arc<()>>);

impl Reads {
    /// Marks a read, until the result is dropped.
    pub(crate) fn begin(&self) -> Arc<()> {
        Arc::clone(&self.0.lock())
    }

    /// Returns once every read that is under way now has ended.
    async fn all_ended(&self) {
        let before = std::mem::take(&mut *self.0.lock());
        while Arc::strong_count(&before) > 1 {
            tokio::time::sleep(READS_POLL).await;
        }
    }
}

/// Proof that nothing names these segments any more.
#[derive(Debug)]
struct CompleteScan {
    dead: Vec<Dead>,
}

/// A dead segment.
#[derive(Debug, Clone, Copy)]
struct Dead {
    id: SegmentId,
    stored_bytes: u64,
}

/// Collects in the background, after changes, until the volume is gone.
pub(crate) async fn run(volume: Weak<Volume>) {
    let mut seen = 0;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let Some(volume) = volume.upgrade() else { return };
        let commits = volume.commits.load(Ordering::Relaxed);
        let nothing_new = commits == seen && volume.log.fragmented.is_empty();
        if nothing_new || volume.is_read_only() || volume.check().is_err() {
            continue;
        }
        seen = commits;
        volume.defragment().await;
        if let Err(error) = volume.collect(&crate::report::Silent).await {
            volume.note(&error);
            tracing::warn!(%error, "space was not given back this time; nothing was deleted");
            // What the store refused may be on its way still; damage stays as it is until something changes.
            if !matches!(error, Error::Corrupt(_)) {
                seen = 0;
            }
        }
    }
}

impl Volume {
    /// Brings together what was found scattered, empties segments that are mostly dead, and deletes what nothing names any more.
    ///
    /// # Errors
    /// Anything that goes wrong ends the pass; nothing is deleted then that was not proven dead.
    pub async fn gc(&self, progress: &dyn Progress) -> Result<GcReport> {
        self.confirm_owner().await?;
        self.sync_all().await.map_err(|error| Error::Io(error.to_string()))?;
        progress.step("joining what lies scattered", 0, 0);
        self.defragment().await;
        let mut report = self.collect(progress).await?;
        let _alone = self.collecting.lock().await;
        let orphans = self.orphan_segments().await?;
        self.delete_proven(&orphans, &mut report, progress).await?;
        Ok(report)
    }

    async fn collect(&self, progress: &dyn Progress) -> Result<GcReport> {
        let mut hopeless = self.collecting.lock().await;
        let settled = self.log.settled();
        let segments = self.meta.segments().await?;
        let mut report = GcReport { segments: count(segments.len()), ..GcReport::default() };
        let worth_it = |segment: &&SegmentUse| is_sparse(segment, settled) && !hopeless.contains(&segment.segment.id);
        let sparse: Vec<NewSegment> = segments.iter().filter(worth_it).map(|segment| segment.segment).collect();
        for (batch, sparse_together) in sparse.chunks(TOGETHER).enumerate() {
            progress.step("emptying sparse segments", count(batch * TOGETHER), count(sparse.len()));
            let emptied = self.empty(sparse_together).await?;
            report.rewritten_bytes += emptied.values().sum::<u64>();
            report.rewritten_segments += count(emptied.len());
            hopeless.extend(sparse_together.iter().map(|segment| segment.id).filter(|id| !emptied.contains_key(id)));
        }
        if !sparse.is_empty() {
            self.log.drain().await.map_err(|error| Error::Io(error.to_string()))?;
        } else if !segments.iter().any(|segment| is_dead(segment, settled)) {
            return Ok(report);
        }
        let dead = self.dead_segments().await?;
        self.delete_proven(&dead, &mut report, progress).await?;
        Ok(report)
    }

    /// The segments that are counted as dead, and that nothing can come to name again.
    async fn dead_segments(&self) -> Result<Vec<Dead>> {
        // In this order. A commit may come between a segment's record and its extents, and counts it as dead. One that begins when
        // they are all there counts them; and of what is dead then there is nothing left to share.
        let settled = self.log.settled();
        self.commit().await.map_err(|error| Error::Io(error.to_string()))?;
        let segments = self.meta.segments().await?;
        let dead = |segment: &SegmentUse| Dead { id: segment.segment.id, stored_bytes: segment.segment.stored_bytes };
        Ok(segments.iter().filter(|segment| is_dead(segment, settled)).map(dead).collect())
    }

    /// Looks at everything that could name these segments. Any error ends it: then there is no proof, and nothing to delete.
    async fn scan(&self, candidates: &[Dead], progress: &dyn Progress) -> Result<CompleteScan> {
        let mut dead = Vec::with_capacity(candidates.len());
        for (batch, together) in candidates.chunks(TOGETHER).enumerate() {
            progress.step("checking dead segments", count(batch * TOGETHER), count(candidates.len()));
            let mut namers = Namers::default();
            let sized = together.iter().map(|dead| (dead.id, dead.stored_bytes)).collect();
            for (id, found) in self.look_for_namers(sized).await {
                namers.add(id, found?);
            }
            let named = self.named(&namers).await?;
            for candidate in together {
                if named.contains(&candidate.id) {
                    let segment = candidate.id;
                    tracing::error!(%segment, "a segment is counted as dead but is named: it is kept; run `stoa fsck`");
                } else {
                    dead.push(*candidate);
                }
            }
        }
        Ok(CompleteScan { dead })
    }

    async fn delete_proven(&self, candidates: &[Dead], report: &mut GcReport, progress: &dyn Progress) -> Result<()> {
        if candidates.is_empty() {
            return Ok(());
        }
        let scan = self.scan(candidates, progress).await?;
        self.delete_dead(scan, report, progress).await
    }

    /// The only place that deletes segments.
    async fn delete_dead(&self, scan: CompleteScan, report: &mut GcReport, progress: &dyn Progress) -> Result<()> {
        let ids: Vec<SegmentId> = scan.dead.iter().map(|dead| dead.id).collect();
        // First they are forgotten, durably; only then deleted. A crash in between leaves objects, never names without objects.
        self.meta.forget_segments(&ids).await?;
        // Whatever it takes: what is forgotten and not deleted now is only found by a listing, after this mount.
        self.commit_patiently().await.map_err(|error| Error::Io(error.to_string()))?;
        self.reads.all_ended().await;
        for (done, dead) in scan.dead.iter().enumerate() {
            progress.step("deleting dead segments", count(done), count(scan.dead.len()));
            self.cache.forget_object(u128::from(dead.id.0));
            match self.store.delete(&segment_path(dead.id)).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(Error::store("delete a dead segment", &error)),
            }
            report.deleted_segments += 1;
            report.deleted_bytes += dead.stored_bytes;
        }
        Ok(())
    }

    /// Segments of earlier mounts that the namespace does not know: uploaded, and never named because of a crash.
    async fn orphan_segments(&self) -> Result<Vec<Dead>> {
        let objects: Vec<_> = self
            .store
            .list(Some(&Path::from(DATA)))
            .try_collect()
            .await
            .map_err(|error| Error::store("list the segments", &error))?;
        // After the listing: a segment that is known now was not forgotten.
        let known: HashSet<SegmentId> = self.meta.segments().await?.iter().map(|segment| segment.segment.id).collect();
        let orphan = |object: &object_store::ObjectMeta| {
            let id = segment_of(&object.location)?;
            let unknown = !known.contains(&id) && !self.log.is_own(id);
            unknown.then_some(Dead { id, stored_bytes: object.size })
        };
        Ok(objects.iter().filter_map(orphan).collect())
    }
}

/// Whether it is worth it to empty a segment.
fn is_sparse(segment: &SegmentUse, settled: Settled) -> bool {
    let live = segment.live_bytes;
    live > 0 && live.saturating_mul(SPARSE) < segment.segment.data_bytes && settled.holds(segment.segment.id)
}

/// Whether a segment is counted as dead.
fn is_dead(segment: &SegmentUse, settled: Settled) -> bool {
    segment.live_bytes == 0 && settled.holds(segment.segment.id)
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
