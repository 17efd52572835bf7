//! Collapsing and inserting ranges: what follows moves, and no data is copied.

use super::Inner;
use super::extents::Edit;
use super::publish::hole;
use crate::Result;
use crate::record::Inode;
use std::ops::Range;
use std::sync::Arc;
use stoa_vfs::{Error as FileError, Ino, Timestamp};

impl Inner {
    pub(super) async fn collapse_range(self: &Arc<Self>, ino: Ino, range: Range<u64>) -> Result<()> {
        self.admit().await?;
        let _locked = self.locks.exclusive(&[ino]).await;
        let inode = self.locked_inode(ino).await?;
        if range.start >= range.end || range.end >= inode.size {
            return Err(FileError::Invalid("a collapsed range must end before the file does").into());
        }
        let len = range.end - range.start;
        let mut edit = Edit::new(ino);
        edit.look_at(self, &(range.start..inode.size)).await?;
        edit.clear(&range);
        for extent in edit.clear(&(range.end..u64::MAX)) {
            let offset = extent.offset - len;
            edit.put_free(extent.at(offset));
        }
        edit.check_cover(&(range.start..inode.size - len))?;
        self.finish_shift(ino, &edit, &inode, inode.size - len);
        Ok(())
    }

    pub(super) async fn insert_range(self: &Arc<Self>, ino: Ino, range: Range<u64>) -> Result<()> {
        self.admit().await?;
        let _locked = self.locks.exclusive(&[ino]).await;
        let inode = self.locked_inode(ino).await?;
        if range.start >= range.end || range.start >= inode.size {
            return Err(FileError::Invalid("an inserted range must start before the file ends").into());
        }
        let len = range.end - range.start;
        let size =
            inode.size.checked_add(len).filter(|size| i64::try_from(*size).is_ok()).ok_or(FileError::TooLarge)?;
        let mut edit = Edit::new(ino);
        edit.look_at(self, &(range.start..inode.size)).await?;
        let moved = edit.clear(&(range.start..u64::MAX));
        edit.put_free(hole(range.clone()));
        for extent in moved {
            let offset = extent.offset + len;
            edit.put_free(extent.at(offset));
        }
        edit.check_cover(&(range.start..size))?;
        self.finish_shift(ino, &edit, &inode, size);
        Ok(())
    }

    fn finish_shift(&self, ino: Ino, edit: &Edit, inode: &Inode, size: u64) {
        let now = Timestamp::now();
        self.finish_edit(ino, edit, Inode { size, mtime: now, ctime: now, ..inode.clone() });
    }
}
