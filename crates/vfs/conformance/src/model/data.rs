//! Open files: reading, writing, allocating, copying.

use super::content::{PAGE, SIZE_MAX};
use super::state::{Open, State};
use bytes::Bytes;
use stoa_vfs::{Allocate, Error, Handle, Ino, OpenFlags, Result, Seek};

impl State {
    pub(super) fn open(&mut self, ino: Ino, flags: OpenFlags) -> Result<Handle> {
        let inode = self.inode_mut(ino)?;
        let content = inode.content_mut()?;
        if flags.truncate {
            content.resize(0);
            inode.touch_mtime();
            if flags.clear_privileges {
                inode.clear_privileges();
            }
        }
        self.add_handle(Open { ino, write: flags.write })
    }

    pub(super) fn read(&mut self, ino: Ino, handle: Handle, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        self.handle(ino, handle)?;
        let inode = self.inode_mut(ino)?;
        let bytes = inode.content()?.read(offset, size);
        inode.touch_atime();
        Ok(if bytes.is_empty() { Vec::new() } else { vec![bytes] })
    }

    pub(super) fn write(
        &mut self,
        ino: Ino,
        handle: Handle,
        offset: u64,
        data: &[u8],
        how: stoa_vfs::WriteFlags,
    ) -> Result<()> {
        if !self.handle(ino, handle)?.write {
            return Err(Error::BadHandle);
        }
        if data.is_empty() {
            return Ok(());
        }
        check_end(offset, data.len() as u64)?;
        let inode = self.inode_mut(ino)?;
        inode.content_mut()?.write(offset, data);
        if !how.cached {
            inode.touch_mtime();
        }
        if how.clear_privileges {
            inode.clear_privileges();
        }
        Ok(())
    }

    pub(super) fn fallocate(&mut self, ino: Ino, offset: u64, len: u64, how: Allocate) -> Result<()> {
        let inode = self.inode_mut(ino)?;
        let content = inode.content_mut()?;
        if len == 0 {
            return Err(Error::Invalid("fallocate of no bytes"));
        }
        let end = check_end(offset, len)?;
        let aligned = offset.is_multiple_of(PAGE) && len.is_multiple_of(PAGE);
        match how {
            Allocate::Reserve { keep_size: true } => {}
            Allocate::Reserve { keep_size: false } => content.grow(end),
            Allocate::PunchHole | Allocate::Zero { keep_size: true } => content.punch(offset, end),
            Allocate::Zero { keep_size: false } => {
                content.punch(offset, end);
                content.grow(end);
            }
            Allocate::Collapse if aligned && end < content.size() => content.collapse(offset, len),
            Allocate::Collapse => return Err(Error::Invalid("collapse: not whole blocks before the end of the file")),
            Allocate::Insert if aligned && offset < content.size() => {
                check_end(content.size(), len)?;
                content.insert(offset, len);
            }
            Allocate::Insert => return Err(Error::Invalid("insert: not whole blocks before the end of the file")),
        }
        inode.touch_mtime();
        Ok(())
    }

    pub(super) fn seek(&self, ino: Ino, offset: u64, what: Seek) -> Result<u64> {
        let content = self.inode(ino)?.content()?;
        if offset >= content.size() {
            return Err(Error::NoOffset);
        }
        match what {
            Seek::Data => content.next_data(offset).ok_or(Error::NoOffset),
            Seek::Hole => Ok(content.next_hole(offset)),
        }
    }

    pub(super) fn copy_range(&mut self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64> {
        self.inode(to)?.content()?;
        let content = self.inode(ino)?.content()?;
        let len = len.min(content.size().saturating_sub(offset));
        if len == 0 {
            return Ok(0);
        }
        let to_end = check_end(to_offset, len)?;
        let end = offset + len;
        if ino == to && offset < to_end && to_offset < end {
            return Err(Error::Invalid("copy_range: the ranges overlap"));
        }
        let pieces = content.written(offset, end);
        self.inode_mut(ino)?.touch_atime();
        let target = self.inode_mut(to)?;
        let content = target.content_mut()?;
        content.punch(to_offset, to_end);
        content.grow(to_end);
        for (at, data) in pieces {
            content.write(at - offset + to_offset, &data);
        }
        target.touch_mtime();
        Ok(len)
    }
}

/// Where a range ends, if a file can reach so far.
fn check_end(offset: u64, len: u64) -> Result<u64> {
    offset.checked_add(len).filter(|end| *end <= SIZE_MAX).ok_or(Error::TooLarge)
}
