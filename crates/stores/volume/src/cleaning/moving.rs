//! Moving data to other segments: read, and sent into the log again.

use super::Move;
use crate::volume::Volume;
use crate::{Error, Result};
use bytes::Bytes;
use stoa_meta::{Content, Extent};
use stoa_vfs::Ino;

/// As much as the log sends at once.
const PORTION_BYTES_MAX: u64 = 32 << 20;

/// Extents that are moved at a time, however little they hold: as many small ones as lie in some segments.
pub(super) const PORTION_EXTENTS_MAX: usize = 8192;

/// What is less than one part in this many of the frames it lies in is copied out of them.
const COPIED: u64 = 2;

/// Extents of one file that are to be moved together: those of a segment come with few requests. In groups of neighbours, each of which becomes
/// one stretch.
#[derive(Debug, Default)]
pub(crate) struct Portion {
    groups: Vec<Vec<Extent>>,
    extents: usize,
    /// Of the frames that are read for them.
    bytes: u64,
}

impl Portion {
    pub(crate) fn add(&mut self, group: Vec<Extent>) {
        self.extents += group.len();
        let mut last = self.groups.last().and_then(|group| group.last());
        for extent in &group {
            self.bytes += if last.is_some_and(|last| is_of_one_frame(last, extent)) { 0 } else { read_bytes(extent) };
            last = Some(extent);
        }
        self.groups.push(group);
    }

    pub(crate) fn is_full(&self, bytes_max: u64) -> bool {
        self.bytes >= bytes_max || self.extents >= PORTION_EXTENTS_MAX
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn take(&mut self) -> Vec<Vec<Extent>> {
        std::mem::take(self).groups
    }
}

/// Whether two extents lie in the same frame, and no other.
fn is_of_one_frame(one: &Extent, other: &Extent) -> bool {
    match (&one.content, &other.content) {
        (Content::Stored(one), Content::Stored(other)) => {
            let place = (one.segment, one.stored_offset);
            place == (other.segment, other.stored_offset) && one.frames.len() == 1 && other.frames.len() == 1
        }
        _ => false,
    }
}

/// What is read to have the bytes of an extent.
fn read_bytes(extent: &Extent) -> u64 {
    match &extent.content {
        Content::Stored(run) => run.frames.iter().map(|frame| u64::from(frame.data_len)).sum(),
        Content::Hole | Content::Inline(_) => extent.len,
    }
}

impl Volume {
    /// How much is read at a time to be moved.
    pub(crate) fn portion_bytes(&self) -> u64 {
        (self.budget.bytes_max() / 8).min(PORTION_BYTES_MAX)
    }

    /// Moves groups of neighbours of a file, as [`Volume::move_extents`] does. If some are damaged, all others: it returns those that stay,
    /// and why.
    ///
    /// # Errors
    /// Anything but damage.
    pub(crate) async fn move_undamaged(&self, ino: Ino, groups: &[Vec<Extent>]) -> Result<Vec<(Vec<Extent>, Error)>> {
        let mut damaged = Vec::new();
        match self.move_extents(ino, groups).await {
            // One says nothing of the others.
            Err(Error::Corrupt(_)) => {
                for group in groups {
                    match self.move_extents(ino, std::slice::from_ref(group)).await {
                        Err(error @ Error::Corrupt(_)) => damaged.push((group.clone(), error)),
                        moved => moved?,
                    }
                }
            }
            moved => moved?,
        }
        Ok(damaged)
    }

    /// Reads extents of a file, and sends the data of each group of neighbours into the log again.
    async fn move_extents(&self, ino: Ino, neighbours: &[Vec<Extent>]) -> Result<()> {
        if neighbours.is_empty() {
            return Ok(());
        }
        let all = neighbours.concat();
        let bytes = all.iter().map(|extent| extent.len).sum();
        let mut reserved = match self.budget.try_reserve(bytes) {
            Some(reserved) => reserved,
            None => {
                // What was moved before gives its memory back only when its segment is sealed, and that may be waiting for more.
                self.log.drain().await.map_err(|error| Error::Io(error.to_string()))?;
                self.reserve(bytes).await.map_err(|error| Error::Io(error.to_string()))?
            }
        };
        let parts = {
            let _alive = self.reads.begin();
            self.read_each(&all).await.map_err(|error| unread(ino, error))?
        };
        let mut parts = parts.into_iter();
        for old in neighbours {
            let Some(offset) = old.first().map(|first| first.offset) else { continue };
            let data = old.iter().zip(parts.by_ref()).flat_map(|(extent, parts)| alone(extent, parts)).collect();
            let reserved = reserved.split(old.iter().map(|extent| extent.len).sum());
            self.log.submit_move(Move { ino, offset, data, old: old.clone(), _reserved: reserved });
        }
        Ok(())
    }
}

/// Why data of a file can't be moved: only damage stays as it is.
pub(crate) fn unread(ino: Ino, error: stoa_vfs::Error) -> Error {
    let text = format!("inode {ino}: {error}");
    match error {
        stoa_vfs::Error::Corrupt(_) => Error::Corrupt(text),
        _ => Error::Io(text),
    }
}

/// Bytes of an extent that do not keep much more than themselves in memory while they wait.
fn alone(extent: &Extent, parts: Vec<Bytes>) -> Vec<Bytes> {
    if extent.len.saturating_mul(COPIED) < read_bytes(extent) {
        return parts.iter().map(|part| Bytes::copy_from_slice(part)).collect();
    }
    parts
}

#[cfg(test)]
mod tests;
