//! Bringing together what random writes scattered: many small extents side by side become a few large ones.

mod fragmented;

pub(crate) use fragmented::Fragmented;

use crate::cleaning::{Portion, unread};
use crate::log::INLINE_BYTES;
use crate::volume::Volume;
use crate::{Error, Result};
use bytes::BytesMut;
use std::collections::HashMap;
use std::ops::Range;
use stoa_meta::{Content, Extent, SegmentId};
use stoa_vfs::Ino;

/// The part of a file that is looked at, and rewritten, at a time.
const WINDOW_BYTES: u64 = 4 << 20;

/// A window with more extents than this is rewritten.
const EXTENTS_MANY: usize = 16;

/// Publishing this many extents at once, or a small one into a longer file, makes a file worth looking at.
const SCATTERED: usize = 8;

/// Holes side by side that are passed in one step, with what follows.
const HOLES: usize = 16;

/// Whether extents of a file, which lie one after the other, are worth bringing together: there are so many that one of the windows they lie in
/// is rewritten.
fn is_scattered(extents: &[Extent]) -> bool {
    let (Some(first), Some(last)) = (extents.first(), extents.last()) else { return false };
    let windows = last.end().div_ceil(WINDOW_BYTES) - first.offset / WINDOW_BYTES;
    let joinable = extents.windows(2).filter(|pair| pair.iter().all(is_data)).count();
    u64::try_from(joinable / EXTENTS_MANY).is_ok_and(|full| full > windows)
}

impl Volume {
    /// Rewrites the fragmented parts of files that are at rest.
    pub(crate) async fn defragment(&self) {
        let fragmented = &self.log.fragmented;
        let _alone = fragmented.joining.lock().await;
        if fragmented.is_empty() {
            return;
        }
        let mut in_use = Vec::new();
        while let Some(turn) = fragmented.next() {
            if self.files.find(turn.ino).is_some_and(|file| file.lock().is_dirty()) {
                in_use.push(turn);
                continue;
            }
            match self.defragment_file(turn.ino, turn.range.clone()).await {
                Ok(()) => turn.done(),
                Err(error @ Error::Corrupt(_)) => {
                    tracing::warn!(%error, ino = %turn.ino, "a file stays fragmented");
                    turn.done();
                }
                // What keeps this one keeps all others too: another time.
                Err(error) => {
                    tracing::warn!(%error, ino = %turn.ino, "files stay fragmented for now");
                    break;
                }
            }
        }
        // What was moved takes memory until it is published.
        if let Err(error) = self.log.drain().await {
            tracing::warn!(%error, "what was defragmented is not in the store yet");
        }
    }

    async fn defragment_file(&self, ino: Ino, range: Range<u64>) -> Result<()> {
        let size = match self.meta.attr(ino).await {
            // Whole windows.
            Ok(attr) => attr.size.min(range.end.div_ceil(WINDOW_BYTES).saturating_mul(WINDOW_BYTES)),
            Err(stoa_meta::Error::File(stoa_vfs::Error::Stale)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let mut start = range.start / WINDOW_BYTES * WINDOW_BYTES;
        let mut joining = Joining { volume: self, ino, portion: Portion::default(), shared: HashMap::new() };
        // Of what it found, nothing is deleted before it is moved.
        let mut alive = self.reads.begin();
        while start < size {
            let end = start.saturating_add(WINDOW_BYTES).min(size);
            let extents = self.meta.extents(ino, start..end).await?;
            // A long hole is passed in one step.
            start = match extents.first() {
                Some(first) if extents.len() == 1 && matches!(first.content, Content::Hole) => {
                    self.hole_end(ino, end, size).await?
                }
                _ => end,
            };
            if extents.len() > EXTENTS_MANY {
                joining.join(&extents).await?;
            }
            if joining.portion.is_empty() {
                drop(std::mem::replace(&mut alive, self.reads.begin()));
            }
        }
        joining.finish().await
    }

    async fn hole_end(&self, ino: Ino, from: u64, size: u64) -> Result<u64> {
        let next = self.meta.extents_from(ino, from, HOLES).await?;
        let data = next.iter().find(|extent| !matches!(extent.content, Content::Hole));
        let end = data.map(|data| data.offset.max(from)).or_else(|| next.last().map(Extent::end));
        Ok(end.unwrap_or(size))
    }

    async fn join_inline(&self, ino: Ino, run: &[Extent]) -> Result<()> {
        let _alive = self.reads.begin();
        let parts = self.read_extents(run).await.map_err(|error| unread(ino, error))?;
        let mut all = BytesMut::new();
        parts.iter().for_each(|part| all.extend_from_slice(part));
        let (Some(offset), Ok(len)) = (run.first().map(|first| first.offset), u64::try_from(all.len())) else {
            return Ok(());
        };
        let joined = Extent { offset, len, content: Content::Inline(all.freeze()) };
        // If the file was written meanwhile, it stays as it is now.
        self.meta.replace(ino, run, vec![joined]).await?;
        Ok(())
    }
}

/// Joins what lies scattered in one file.
struct Joining<'v> {
    volume: &'v Volume,
    ino: Ino,
    /// Runs that are to be moved.
    portion: Portion,
    /// Whether segments are shared with other files, as far as that was asked.
    shared: HashMap<SegmentId, bool>,
}

impl Joining<'_> {
    /// Rewrites runs of data between holes: at once what is small, the others in portions. What other files share stays where it is, as it would
    /// take its space again.
    async fn join(&mut self, extents: &[Extent]) -> Result<()> {
        for run in extents.chunk_by(|a, b| is_data(a) && is_data(b)).filter(|run| run.len() > 1) {
            if self.is_shared(run).await? {
                continue;
            }
            if run.iter().map(|extent| extent.len).sum::<u64>() <= INLINE_BYTES {
                let joined = self.volume.join_inline(self.ino, run).await;
                self.unless_damaged(joined)?;
            } else {
                self.portion.add(run.to_vec());
            }
            if self.portion.is_full(self.volume.portion_bytes()) {
                self.finish().await?;
            }
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        let runs = self.portion.take();
        for (_, error) in self.volume.move_undamaged(self.ino, &runs).await? {
            self.unless_damaged(Err(error))?;
        }
        Ok(())
    }

    fn unless_damaged(&self, done: Result<()>) -> Result<()> {
        match done {
            Err(error @ Error::Corrupt(_)) => {
                tracing::error!(%error, ino = %self.ino, "a part of a file stays scattered; run `stoa fsck --data`");
                self.volume.note(&error);
                self.volume.log.fragmented.is_damaged(self.ino);
                Ok(())
            }
            done => done,
        }
    }

    async fn is_shared(&mut self, run: &[Extent]) -> Result<bool> {
        for segment in run.iter().filter_map(Extent::segment) {
            let shared = match self.shared.get(&segment) {
                Some(shared) => *shared,
                None => !self.volume.meta.sharers(segment).await?.is_empty(),
            };
            self.shared.insert(segment, shared);
            if shared {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_data(extent: &Extent) -> bool {
    !matches!(extent.content, Content::Hole)
}
