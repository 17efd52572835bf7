//! Small files that were written together lie together: who reads some of them is going to read more.
//!
//! Programs read trees of small files in another order than they were written, so what is fetched ahead is the rest of
//! the segment, not what follows. One request then serves thousands of files.

use crate::layout::segment_path;
use crate::published::request;
use crate::segment::{Directory, DirectoryEntry, ReadError};
use crate::volume::Volume;
use object_store::{ObjectStore, ObjectStoreExt};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use stoa_cache::Cache;
use stoa_meta::{FrameRef, Run, SegmentId};

/// A frame with at most this much data is one of many in its segment.
const SMALL_BYTES: u32 = 32 << 10;

/// What lies further on in its file than this belongs to a large one, which is read ahead by itself.
const LARGE_FILE_BYTES: u64 = 1 << 20;

/// Misses that are remembered. Random reads all over a large volume seldom meet in one segment within so few.
const MISSES_KEPT: usize = 32;

/// So many of them in one segment, and the rest of it is fetched.
const MISSES_MANY: usize = 3;

/// The segments of the small frames that had to be fetched last.
#[derive(Debug, Default)]
pub(crate) struct Neighbours(Mutex<VecDeque<SegmentId>>);

impl Neighbours {
    /// Notes that a small frame of `segment` has to be fetched; says whether its neighbours are worth fetching too.
    fn missed(&self, segment: SegmentId) -> bool {
        let mut misses = self.0.lock();
        if misses.len() == MISSES_KEPT {
            misses.pop_front();
        }
        misses.push_back(segment);
        let many = misses.iter().filter(|missed| **missed == segment).count() >= MISSES_MANY;
        if many {
            misses.retain(|missed| *missed != segment);
        }
        many
    }
}

impl Volume {
    /// Hears of a read before it looks into the cache, and has the neighbours of what it is going to miss fetched.
    pub(crate) fn fetch_neighbours(&self, run: &Run, file_offset: u64) {
        let small = file_offset < LARGE_FILE_BYTES && run.frames.iter().all(is_small);
        let missing = || !self.cache.holds(u128::from(run.segment.0), u64::from(run.stored_offset));
        if small && missing() && self.neighbours.missed(run.segment) {
            let (store, cache, alive) = (Arc::clone(&self.store), Arc::clone(&self.cache), self.reads.begin());
            let (segment, from) = (run.segment, run.stored_offset);
            tokio::spawn(async move {
                // Whatever is wrong will be found, and told, by reads.
                drop(fetch_segment(store.as_ref(), &cache, segment, from).await);
                drop(alive);
            });
        }
    }
}

fn is_small(frame: &FrameRef) -> bool {
    frame.data_len <= SMALL_BYTES
}

/// Fetches the files of a segment, those from `from` on first: there may not be room for all.
async fn fetch_segment(
    store: &dyn ObjectStore,
    cache: &Arc<Cache>,
    segment: SegmentId,
    from: u32,
) -> Result<(), ReadError> {
    let path = segment_path(segment);
    let size = store.head(&path).await?.size;
    let directory = Directory::read(store, &path, size).await?;
    let wanted = directory.entries.iter().filter(|entry| entry.file_offset < LARGE_FILE_BYTES);
    let (before, after): (Vec<&DirectoryEntry>, Vec<_>) = wanted.partition(|entry| entry.stored_offset < from);
    for part in [after, before] {
        let frames = part.iter().map(|entry| (entry.stored_offset, entry.frame));
        let (object, pieces, decoder) = request(segment, frames);
        cache.prefetch(object, pieces, decoder);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_that_meet_in_a_segment_bring_its_neighbours_once() {
        let neighbours = Neighbours::default();
        let here = SegmentId(1);
        assert!(!neighbours.missed(here));
        assert!(!neighbours.missed(SegmentId(2)));
        assert!(!neighbours.missed(here));
        assert!(neighbours.missed(here));
        assert!(!neighbours.missed(here));
    }

    #[test]
    fn reads_all_over_a_large_volume_bring_nothing() {
        let neighbours = Neighbours::default();
        assert!((0..10_000).all(|read| !neighbours.missed(SegmentId(read % 100))));
    }
}
