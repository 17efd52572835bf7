//! Bringing together what random writes scattered: many small extents side by side become a few large ones.

use crate::log::INLINE_BYTES;
use crate::volume::Volume;
use crate::{Error, Result};
use bytes::BytesMut;
use parking_lot::Mutex;
use std::collections::HashSet;
use stoa_meta::{Content, Extent, FileUpdate};
use stoa_vfs::Ino;

/// The part of a file that is looked at, and rewritten, at a time.
const WINDOW_BYTES: u64 = 4 << 20;

/// A window with more extents than this is rewritten.
const EXTENTS_MANY: usize = 16;

/// Publishing this many extents at once, or a small one into a longer file, makes a file worth looking at.
const SCATTERED: usize = 8;

/// Holes side by side that are passed in one step, with what follows.
const HOLES: usize = 16;

/// The most files to remember; others are found when they are written or read again.
const FILES_MAX: usize = 65_536;

/// Files to look at.
#[derive(Debug, Default)]
pub(crate) struct Fragmented(Mutex<HashSet<Ino>>);

impl Fragmented {
    /// Hears what is published.
    pub(crate) fn note(&self, update: &FileUpdate) {
        let small = |extent: &Extent| (1..=INLINE_BYTES).contains(&extent.data_bytes());
        let scattered = update.extents.len() >= SCATTERED;
        if scattered || (update.size > INLINE_BYTES && update.extents.iter().any(small)) {
            self.add(update.ino);
        }
    }

    fn take(&self) -> Vec<Ino> {
        self.0.lock().drain().collect()
    }

    /// Has a file looked at.
    pub(crate) fn add(&self, ino: Ino) {
        let mut files = self.0.lock();
        if files.len() < FILES_MAX {
            files.insert(ino);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

/// Whether extents of a file, which lie one after the other, are worth bringing together: there are so many that one of the windows they lie in
/// is rewritten.
pub(crate) fn is_scattered(extents: &[Extent]) -> bool {
    let (Some(first), Some(last)) = (extents.first(), extents.last()) else { return false };
    let windows = last.end().div_ceil(WINDOW_BYTES) - first.offset / WINDOW_BYTES;
    let joinable = extents.windows(2).filter(|pair| pair.iter().all(is_data)).count();
    u64::try_from(joinable / EXTENTS_MANY).is_ok_and(|full| full > windows)
}

impl Volume {
    /// Rewrites the fragmented parts of files that are at rest.
    pub(crate) async fn defragment(&self) {
        let fragmented = self.log.fragmented.take();
        if fragmented.is_empty() {
            return;
        }
        for ino in fragmented {
            if self.files.find(ino).is_some_and(|file| file.lock().is_dirty()) {
                self.log.fragmented.add(ino);
                continue;
            }
            if let Err(error) = self.defragment_file(ino).await {
                tracing::warn!(%error, %ino, "a file stays fragmented");
            }
        }
        // What was moved takes memory until it is published.
        if let Err(error) = self.log.drain().await {
            tracing::warn!(%error, "what was defragmented is not in the store yet");
        }
    }

    async fn defragment_file(&self, ino: Ino) -> Result<()> {
        let size = match self.meta.attr(ino).await {
            Ok(attr) => attr.size,
            Err(stoa_meta::Error::File(stoa_vfs::Error::Stale)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let (mut start, mut joining) = (0, Vec::new());
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
                joining.extend(self.joinable(ino, &extents).await?);
            }
            let bytes: u64 = joining.iter().map(|run| bytes_of(run)).sum();
            if bytes >= self.portion_bytes() {
                self.move_extents(ino, std::mem::take(&mut joining)).await?;
                drop(std::mem::replace(&mut alive, self.reads.begin()));
            }
        }
        self.move_extents(ino, joining).await
    }

    async fn hole_end(&self, ino: Ino, from: u64, size: u64) -> Result<u64> {
        let next = self.meta.extents_from(ino, from, HOLES).await?;
        let data = next.iter().find(|extent| !matches!(extent.content, Content::Hole));
        let end = data.map(|data| data.offset.max(from)).or_else(|| next.last().map(Extent::end));
        Ok(end.unwrap_or(size))
    }

    /// The runs of data between holes that are worth moving. What is small is joined at once.
    async fn joinable(&self, ino: Ino, extents: &[Extent]) -> Result<Vec<Vec<Extent>>> {
        let mut runs = Vec::new();
        for run in extents.chunk_by(|a, b| is_data(a) && is_data(b)).filter(|run| run.len() > 1) {
            if bytes_of(run) <= INLINE_BYTES {
                self.join_inline(ino, run).await?;
            } else {
                runs.push(run.to_vec());
            }
        }
        Ok(runs)
    }

    async fn join_inline(&self, ino: Ino, run: &[Extent]) -> Result<()> {
        let _alive = self.reads.begin();
        let parts = self.read_extents(run).await.map_err(|error| Error::Corrupt(format!("inode {ino}: {error}")))?;
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

fn is_data(extent: &Extent) -> bool {
    !matches!(extent.content, Content::Hole)
}

fn bytes_of(run: &[Extent]) -> u64 {
    run.iter().map(|extent| extent.len).sum()
}
