//! Who can name segments, and who does.

use crate::layout::segment_path;
use crate::segment::{Directory, ReadError};
use crate::volume::Volume;
use crate::{Error, Result};
use futures::StreamExt;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use stoa_meta::{Extent, SegmentId};
use stoa_vfs::Ino;

/// Directories of segments that are read at once.
const READ_AT_ONCE: usize = 8;

/// Which of some segments each inode can name.
#[derive(Debug, Default)]
pub(super) struct Namers(BTreeMap<Ino, HashSet<SegmentId>>);

impl Namers {
    pub(super) fn add(&mut self, segment: SegmentId, inodes: BTreeSet<Ino>) {
        for ino in inodes {
            self.0.entry(ino).or_default().insert(segment);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Ino, &HashSet<SegmentId>)> {
        self.0.iter().map(|(ino, segments)| (*ino, segments))
    }
}

impl Volume {
    /// The inodes that can name each of these segments, which are given with their stored bytes.
    pub(super) async fn look_for_namers(
        &self,
        segments: Vec<(SegmentId, u64)>,
    ) -> Vec<(SegmentId, Result<BTreeSet<Ino>>)> {
        let look = |(id, stored_bytes)| async move { (id, self.possible_namers(id, stored_bytes).await) };
        futures::stream::iter(segments).map(look).buffered(READ_AT_ONCE).collect().await
    }

    /// The inodes that can name a segment: those its own directory names, and those that share extents. None if there is no such object.
    async fn possible_namers(&self, id: SegmentId, stored_bytes: u64) -> Result<BTreeSet<Ino>> {
        let path = segment_path(id);
        let directory = match Directory::read(self.store.as_ref(), &path, stored_bytes).await {
            Ok(directory) => directory,
            Err(ReadError::Store(object_store::Error::NotFound { .. })) => return Ok(BTreeSet::new()),
            Err(ReadError::Store(error)) => return Err(Error::store(&format!("look into {path}"), &error)),
            Err(error @ ReadError::Corrupt(_)) => return Err(Error::Corrupt(format!("{path}: {error}"))),
        };
        let mut inodes: BTreeSet<Ino> = directory.entries.iter().map(|entry| entry.ino).collect();
        inodes.extend(self.meta.sharers(id).await?);
        Ok(inodes)
    }

    /// Those of the segments that any of the inodes names.
    pub(super) async fn named(&self, namers: &Namers) -> Result<HashSet<SegmentId>> {
        let mut named = HashSet::new();
        for (ino, segments) in namers.iter() {
            let extents = self.extents_in(ino, segments, 0, usize::MAX).await?;
            named.extend(extents.iter().filter_map(Extent::segment));
        }
        Ok(named)
    }

    /// Up to `count` extents of a file that lie in some segments, from an offset on.
    pub(super) async fn extents_in(
        &self,
        ino: Ino,
        segments: &HashSet<SegmentId>,
        from: u64,
        count: usize,
    ) -> Result<Vec<Extent>> {
        match self.meta.extents_in_segments(ino, segments, from, count).await {
            Err(stoa_meta::Error::File(stoa_vfs::Error::Stale)) => Ok(Vec::new()),
            found => Ok(found?),
        }
    }
}
