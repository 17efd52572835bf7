//! Publishing: the one way in which extents and sizes come to be.

use super::Inner;
use super::extents::Edit;
use super::names::Changing;
use crate::record::{Inode, RecordKey};
use crate::{Content, Extent, FileUpdate, NewSegment, Result};
use std::ops::Range;
use std::sync::Arc;
use stoa_vfs::{Error as FileError, Ino, Kind, Timestamp};

/// Extents taken from a file in one transaction, where there are very many.
const STEP_EXTENTS: usize = 4096;

/// A range with more extents than this is cleared in steps, its end first: all of them at once would not fit into memory. A crash in between
/// leaves it as it was at its beginning, and cleared at its end.
const CLEARED_EXTENTS: usize = if cfg!(test) { 20_000 } else { 1 << 18 };

/// Extents shared, or replaced, by one transaction: what is longer takes several.
const CLONE_EXTENTS: usize = 4096;

impl Inner {
    pub(super) async fn publish_files(self: &Arc<Self>, segments: &[NewSegment], files: Vec<FileUpdate>) -> Result<()> {
        self.admit().await?;
        if !segments.is_empty() {
            // Before any extent names them: both are pending in order, and a commit takes all that is pending.
            let mut changing = Changing::default();
            for segment in segments {
                changing.transaction.add_segment(*segment);
            }
            self.finish(changing);
        }
        for file in files {
            let published = match self.clear_in_steps(&file).await {
                Ok(()) => self.publish_file(file).await,
                failed => failed,
            };
            match published {
                Err(crate::Error::File(FileError::Stale)) => {}
                other => other?,
            }
        }
        Ok(())
    }

    /// Leaves no more of what an update takes away than one transaction can take.
    async fn clear_in_steps(self: &Arc<Self>, file: &FileUpdate) -> Result<()> {
        let holes = file.extents.iter().filter(|extent| matches!(extent.content, Content::Hole)).map(Extent::range);
        for range in holes.chain(std::iter::once(file.size..u64::MAX)) {
            for start in self.steps(file.ino, &range).await? {
                self.admit().await?;
                let _locked = self.locks.exclusive(&[file.ino]).await;
                let inode = self.locked_inode(file.ino).await?;
                if range.end == u64::MAX {
                    self.shorten(file.ino, &inode, start).await?;
                } else {
                    self.empty(file.ino, &inode, start..range.end.min(inode.size)).await?;
                }
            }
        }
        Ok(())
    }

    /// Where the steps start in which a range is to be cleared, the last first: none, if there are not too many extents in it. What is
    /// before the first of them is left to a transaction of its own.
    async fn steps(&self, ino: Ino, range: &Range<u64>) -> Result<Vec<u64>> {
        // Most updates take nothing away, and take no lock to find that out: nobody else changes the size meanwhile.
        let end = range.end.min(self.inode(ino).await?.size);
        if range.start >= end {
            return Ok(Vec::new());
        }
        let _unchanged = self.locks.shared(&[ino]).await;
        if self.reach(ino, range.start..end, CLEARED_EXTENTS).await? >= end {
            return Ok(Vec::new());
        }
        let starts = self.starts_of_each(ino, range.start..end, STEP_EXTENTS).await?;
        Ok(starts.into_iter().skip(1).rev().collect())
    }

    /// Cuts off what a file has from `size` on.
    async fn shorten(&self, ino: Ino, inode: &Inode, size: u64) -> Result<()> {
        let mut edit = Edit::new(ino);
        edit.look_at(self, &(size..inode.size)).await?;
        edit.clear(&(size..u64::MAX));
        self.finish_edit(ino, &edit, Inode { size, ..inode.clone() });
        Ok(())
    }

    /// Makes a range a hole.
    async fn empty(&self, ino: Ino, inode: &Inode, range: Range<u64>) -> Result<()> {
        let mut edit = Edit::new(ino);
        edit.look_at(self, &range).await?;
        edit.put(hole(range));
        self.finish_edit(ino, &edit, inode.clone());
        Ok(())
    }

    async fn publish_file(&self, file: FileUpdate) -> Result<()> {
        let ino = file.ino;
        let _locked = self.locks.exclusive(&[ino]).await;
        let inode = self.locked_inode(ino).await?;
        self.hold_for_scattered(ino, file.extents.len()).await?;
        let mut edit = Edit::new(ino);
        edit.look_at_each(self, file.extents.iter().map(|extent| extent.offset..extent.end().min(inode.size))).await?;
        file.extents.into_iter().for_each(|extent| edit.put(extent));
        if file.size < inode.size {
            edit.look_at(self, &(file.size..inode.size)).await?;
            edit.clear(&(file.size..u64::MAX));
        }
        edit.check_cover(&(inode.size.min(file.size)..file.size))?;
        let mtime = file.modified.unwrap_or(inode.mtime);
        let ctime = file.modified.map_or(inode.ctime, |time| time.max(inode.ctime));
        self.finish_edit(ino, &edit, Inode { size: file.size, mtime, ctime, ..(*inode).clone() });
        Ok(())
    }

    /// Does an edit together with a change of the inode. The exclusive lock is held.
    pub(super) fn finish_edit(&self, ino: Ino, edit: &Edit, inode: Inode) {
        let mut changing = Changing::default();
        self.finish_held(changing_edit(&mut changing, ino, edit, inode), edit, changing);
    }

    pub(super) async fn replace_extents(self: &Arc<Self>, ino: Ino, old: &[Extent], new: Vec<Extent>) -> Result<bool> {
        self.admit().await?;
        let (Some(first), Some(last)) = (old.first(), old.last()) else { return Ok(true) };
        let range = first.offset..last.end();
        let _locked = self.locks.exclusive(&[ino]).await;
        let inode = match self.locked_inode(ino).await {
            Err(crate::Error::File(FileError::Stale)) => return Ok(false),
            inode => inode?,
        };
        if inode.size < range.end || self.locked_extents_of(ino, range.clone()).await? != old {
            return Ok(false);
        }
        let mut edit = Edit::new(ino);
        edit.look_at(self, &range).await?;
        for extent in new {
            edit.put(extent);
        }
        edit.check_cover(&range)?;
        self.finish_edit(ino, &edit, (*inode).clone());
        Ok(true)
    }

    pub(super) async fn clone_extents(
        self: &Arc<Self>,
        ino: Ino,
        offset: u64,
        to: Ino,
        to_offset: u64,
        len: u64,
    ) -> Result<u64> {
        self.admit().await?;
        let _locked = self.locks.exclusive(&[ino, to]).await;
        let source = self.locked_inode(ino).await?;
        let target = self.locked_inode(to).await?;
        let end = offset.checked_add(len).filter(|end| *end <= source.size);
        let end = end.ok_or(FileError::Invalid("the range to clone is beyond the end of the file"))?;
        let to_end = to_offset.checked_add(len).ok_or(FileError::TooLarge)?;
        let replaced = to_offset..to_end.min(target.size).max(to_offset);
        let reached = self.reach(to, replaced.clone(), CLONE_EXTENTS).await?;
        let len = if reached < replaced.end { reached - to_offset } else { len };
        let len = self.reach(ino, offset..end.min(offset + len), CLONE_EXTENTS).await? - offset;
        let (end, to_end) = (offset + len, to_offset + len);
        let cloned = self.locked_extents_of(ino, offset..end).await?;
        let mut edit = Edit::new(to);
        edit.look_at(self, &(to_offset..to_end.min(target.size))).await?;
        if to_offset > target.size {
            edit.put(hole(target.size..to_offset));
        }
        let mut changing = Changing::default();
        for extent in cloned {
            if let (Some(segment), true) = (extent.segment(), ino != to) {
                changing.transaction.put(&RecordKey::Shared(segment, to), bytes::Bytes::from_static(&[1]));
            }
            let at = to_offset + (extent.offset - offset);
            edit.put(extent.at(at));
        }
        let now = Timestamp::now();
        let inode = Inode { size: target.size.max(to_end), mtime: now, ctime: now, ..(*target).clone() };
        let to = changing_edit(&mut changing, to, &edit, inode);
        self.finish_held(to, &edit, changing);
        Ok(len)
    }

    /// Removes an inode without names, the end of a large file first, in bounded steps.
    pub(super) async fn reap_inode(self: &Arc<Self>, ino: Ino) -> Result<()> {
        let mut cuts: Option<Vec<u64>> = None;
        loop {
            self.admit().await?;
            let _locked = self.locks.exclusive(&[ino]).await;
            let inode = match self.stored_inode(ino).await {
                Err(crate::Error::File(FileError::Stale)) => return Ok(()),
                inode => inode?,
            };
            if !inode.is_unlinked() {
                return Ok(());
            }
            if inode.kind == Kind::Directory && inode.size > 0 {
                // Only an empty one is ever unlinked: something is wrong, and what is in it would be out of reach.
                let what = format!("directory {ino} waits to be removed and is not empty; run `stoa fsck`");
                return Err(crate::Error::Corrupt(what));
            }
            if inode.kind == Kind::Regular && inode.size > 0 {
                // Once: nobody can open the file any more, so nobody but this changes it.
                let cuts = match &mut cuts {
                    Some(cuts) => cuts,
                    none => none.insert(self.starts_of_each(ino, 0..inode.size, STEP_EXTENTS).await?),
                };
                self.shorten(ino, &inode, cuts.pop().unwrap_or(0)).await?;
                continue;
            }
            let mut changing = Changing::default();
            if inode.flags & Inode::XATTR != 0 {
                let transaction = &mut changing.transaction;
                self.scan_xattrs(ino, |key| {
                    transaction.remove_key(key);
                    Ok(())
                })
                .await?;
            }
            changing.transaction.remove(&RecordKey::Orphan(ino));
            changing.transaction.count_inodes(-1);
            changing.remove_inode(ino);
            self.finish(changing);
            self.cached.extents.remove(&ino);
            self.abandoned.lock().remove(&ino);
            return Ok(());
        }
    }
}

/// Gathers an edit and the inode that goes with it.
pub(super) fn changing_edit(changing: &mut Changing, ino: Ino, edit: &Edit, mut inode: Inode) -> Ino {
    let bytes = edit.record(&mut changing.transaction);
    inode.data_bytes = inode.data_bytes.saturating_add_signed(bytes);
    changing.put_inode(ino, inode);
    ino
}

pub(super) fn hole(range: Range<u64>) -> Extent {
    Extent { offset: range.start, len: range.end - range.start, content: Content::Hole }
}
