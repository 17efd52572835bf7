//! Emptying sparse segments: what is alive in them goes into the log again.

use super::moving::{PORTION_EXTENTS_MAX, Portion};
use super::namers::Namers;
use crate::volume::Volume;
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};
use stoa_meta::{Extent, NewSegment, SegmentId};
use stoa_vfs::Ino;

/// How many bytes of which segment were sent into the log.
type Emptied = HashMap<SegmentId, u64>;

impl Volume {
    /// Sends what is alive in segments into the log again. Damage in one must not keep all others from being emptied: that one stays
    /// as it is, and is not among those that are returned.
    pub(super) async fn empty(&self, segments: &[NewSegment]) -> Result<Emptied> {
        let mut emptying = Emptying { volume: self, emptied: Emptied::new(), damaged: HashSet::new() };
        let mut namers = Namers::default();
        let sized = segments.iter().map(|segment| (segment.id, segment.stored_bytes)).collect();
        for (id, found) in self.look_for_namers(sized).await {
            match found {
                Ok(inodes) => namers.add(id, inodes),
                Err(error) => emptying.pass_over([id], error)?,
            }
        }
        for (ino, segments) in namers.iter() {
            emptying.empty_of(ino, segments).await?;
        }
        let Emptying { mut emptied, damaged, .. } = emptying;
        emptied.retain(|id, _| !damaged.contains(id));
        Ok(emptied)
    }
}

/// Segments that are being emptied.
struct Emptying<'v> {
    volume: &'v Volume,
    emptied: Emptied,
    damaged: HashSet<SegmentId>,
}

impl Emptying<'_> {
    /// Empties segments of what one file has in them.
    async fn empty_of(&mut self, ino: Ino, segments: &HashSet<SegmentId>) -> Result<()> {
        let mut from = 0;
        loop {
            // A file that changes between two pages may keep some of a segment: then it is not deleted.
            let page = match self.volume.extents_in(ino, segments, from, PORTION_EXTENTS_MAX).await {
                Ok(page) => page,
                Err(error) => return self.pass_over(segments.iter().copied(), error),
            };
            let Some(last) = page.last() else { return Ok(()) };
            from = last.end();
            let mut portion = Portion::default();
            for extent in page {
                if !extent.segment().is_some_and(|segment| self.damaged.contains(&segment)) {
                    portion.add(vec![extent]);
                }
                if portion.is_full(self.volume.portion_bytes()) {
                    self.empty_portion(ino, portion.take()).await?;
                }
            }
            self.empty_portion(ino, portion.take()).await?;
        }
    }

    async fn empty_portion(&mut self, ino: Ino, portion: Vec<Vec<Extent>>) -> Result<()> {
        for (extents, error) in self.volume.move_undamaged(ino, &portion).await? {
            self.pass_over(extents.iter().filter_map(Extent::segment), error)?;
        }
        for extent in portion.iter().flatten() {
            extent.segment().into_iter().for_each(|id| *self.emptied.entry(id).or_default() += extent.len);
        }
        Ok(())
    }

    /// Leaves segments as they are if they, or who names them, are damaged. Any other error goes on.
    fn pass_over(&mut self, segments: impl IntoIterator<Item = SegmentId>, error: Error) -> Result<()> {
        if !matches!(error, Error::Corrupt(_)) {
            return Err(error);
        }
        self.volume.note(&error);
        for segment in segments {
            tracing::error!(%error, %segment, "a segment can't be emptied; run `stoa fsck --data`");
            self.damaged.insert(segment);
        }
        Ok(())
    }
}
