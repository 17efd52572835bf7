//! Writing: everything lands in the active layer of a file, and goes into the store from there.

use crate::file::{File, FileState, Frozen, Piece};
use crate::log::Home;
use crate::volume::Volume;
use bytes::Bytes;
use std::sync::Arc;
use stoa_cache::{ReadAhead, Reservation};
use stoa_meta::ChangeAttr;
use stoa_vfs::{Allocate, Error, Ino, Kind, OpenFlags, Result, Timestamp};

/// A layer goes into the log without waiting for more where its data end at a multiple of this in the file, so that what a stream left can be
/// read with requests as large.
const FREEZE_BYTES: u64 = 8 << 20;

/// One with gaps may grow to this.
const FREEZE_GAPS_BYTES: u64 = 4 * FREEZE_BYTES;

/// One with scattered data may grow to this, as far as memory goes: the log writes a layer in the order of its offsets, so that the more
/// it holds, the longer are the stretches of the file that lie together in a segment, and the fewer the requests of who reads it.
const FREEZE_SCATTERED_BYTES: u64 = 128 << 20;

/// The largest offset a file can end at (`off_t`).
const SIZE_MAX: u64 = i64::MAX as u64;

/// Collapsing and inserting take multiples of this (fallocate(2) leaves it to the file system; ext4 and XFS ask for their block size).
const SHIFT_UNIT: u64 = 4096;

/// An open file.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) file: Arc<File>,
    pub(crate) writable: bool,
    /// As in [`OpenFlags`].
    pub(crate) uncached: bool,
    pub(crate) read_ahead: ReadAhead,
}

impl Open {
    pub(crate) fn new(file: Arc<File>, flags: OpenFlags, read_ahead: ReadAhead) -> Self {
        file.lock().writers += u32::from(flags.write);
        Self { file, writable: flags.write, uncached: flags.uncached, read_ahead }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.file.lock();
        state.writers -= u32::from(self.writable);
        state.replacing &= state.writers > 0;
    }
}

impl Volume {
    /// The file of a regular inode, in use from now on.
    pub(crate) async fn file(&self, ino: Ino) -> Result<Arc<File>> {
        let size = async {
            let attr = self.meta.attr(ino).await?;
            match attr.kind {
                Kind::Regular => Ok(attr.size),
                Kind::Directory => Err(Error::IsDirectory),
                _ => Err(Error::Invalid("not a regular file")),
            }
        };
        self.files.get(ino, size).await
    }

    pub(crate) async fn write_file(&self, file: &Arc<File>, offset: u64, data: Bytes, cached: bool) -> Result<()> {
        self.check_writable()?;
        let len = u64::try_from(data.len()).unwrap_or(u64::MAX);
        if offset.checked_add(len).is_none_or(|end| end > SIZE_MAX) {
            return Err(Error::TooLarge);
        }
        if len == 0 {
            return Ok(());
        }
        self.log.pace(len).await;
        let mut reservation = match self.budget.try_reserve(len) {
            Some(reservation) => reservation,
            None => {
                self.pressure.notify_one();
                self.reserve(len).await?
            }
        };
        let parts = split(offset, data);
        let _steady = file.gate.read().await;
        let mut state = file.lock();
        state.check()?;
        let now = (!cached).then(Timestamp::now);
        for (offset, part) in parts {
            let len = part.len();
            state.put(offset, part, now);
            state.account(reservation.split(len));
        }
        if let Some(frozen) = self.freeze_ripe(&mut state) {
            self.log.submit(Arc::clone(file), frozen, Home::Namespace);
        }
        drop(state);
        self.files.dirtied(file);
        if self.budget.used() > self.budget.bytes_max() / 2 {
            self.pressure.notify_one();
        }
        Ok(())
    }

    /// Freezes what goes into the log by itself. Requests overtake one another: a gap is waited for, as long as that is not too much.
    fn freeze_ripe(&self, state: &mut FileState) -> Option<Arc<Frozen>> {
        let layer = &state.active;
        let bytes = layer.data_bytes();
        let at_most = |most: u64| (self.budget.bytes_max() / 8).clamp(FREEZE_BYTES, most);
        if layer.is_scattered() {
            return if bytes >= at_most(FREEZE_SCATTERED_BYTES) { state.freeze() } else { None };
        }
        if bytes < FREEZE_BYTES / 2 {
            return None;
        }
        match layer.stretch(FREEZE_BYTES) {
            Some(stretch) if stretch.end - stretch.start >= FREEZE_BYTES / 2 => state.freeze_until(stretch.end),
            _ if bytes >= at_most(FREEZE_GAPS_BYTES) => state.freeze(),
            _ => None,
        }
    }

    /// Takes memory for data on its way into the store; waits for it, but not for ever once nothing gets there any more.
    pub(crate) async fn reserve(&self, bytes: u64) -> Result<Reservation> {
        tokio::select! {
            reserved = self.budget.reserve(bytes) => {
                self.check()?;
                Ok(reserved)
            }
            error = self.log.failure() => Err(error),
        }
    }

    pub(crate) async fn truncate_file(&self, file: &Arc<File>, size: u64) -> Result<()> {
        self.check_writable()?;
        if size > SIZE_MAX {
            return Err(Error::TooLarge);
        }
        let _steady = file.gate.read().await;
        {
            let mut state = file.lock();
            state.check()?;
            if state.size == size {
                state.touch(Timestamp::now());
            } else {
                state.resize(size, Timestamp::now());
            }
        }
        self.files.dirtied(file);
        Ok(())
    }

    pub(crate) async fn allocate_file(&self, file: &Arc<File>, offset: u64, len: u64, how: Allocate) -> Result<()> {
        self.check_writable()?;
        if len == 0 {
            return Err(Error::Invalid("a range of no bytes"));
        }
        let end = offset.checked_add(len).filter(|end| *end <= SIZE_MAX).ok_or(Error::TooLarge)?;
        match how {
            Allocate::Collapse | Allocate::Insert => return self.shift_file(file, offset, len, how).await,
            Allocate::Reserve { keep_size } => {
                self.change_layer(file, |state, _| {
                    if !keep_size {
                        state.grow(end)
                    }
                })
                .await
            }
            Allocate::PunchHole => self.make_hole(file, offset, end, true).await,
            Allocate::Zero { keep_size } => self.make_hole(file, offset, end, keep_size).await,
        }
    }

    async fn make_hole(&self, file: &Arc<File>, offset: u64, end: u64, keep_size: bool) -> Result<()> {
        self.change_layer(file, |state, now| {
            let end = if keep_size { end.min(state.size) } else { end };
            if offset < end {
                state.put(offset, Piece::Hole(end - offset), Some(now));
            }
        })
        .await
    }

    async fn change_layer(&self, file: &Arc<File>, change: impl FnOnce(&mut FileState, Timestamp)) -> Result<()> {
        let _steady = file.gate.read().await;
        {
            let mut state = file.lock();
            state.check()?;
            let now = Timestamp::now();
            change(&mut state, now);
            state.touch(now);
        }
        self.files.dirtied(file);
        Ok(())
    }

    /// Collapses or inserts a range: published extents move, so everything is published first.
    async fn shift_file(&self, file: &Arc<File>, offset: u64, len: u64, how: Allocate) -> Result<()> {
        if !offset.is_multiple_of(SHIFT_UNIT) || !len.is_multiple_of(SHIFT_UNIT) {
            return Err(Error::Invalid("a range to collapse or insert must be of whole 4096-byte blocks"));
        }
        let _alone = file.gate.write().await;
        self.publish_file(file).await?;
        let range = offset..offset + len;
        match how {
            Allocate::Collapse => self.meta.collapse(file.ino, range).await?,
            _ => self.meta.insert(file.ino, range).await?,
        }
        let size = self.meta.attr(file.ino).await?.size;
        file.lock().was_published(size);
        Ok(())
    }

    pub(crate) async fn copy_file_range(
        &self,
        from: &Arc<File>,
        offset: u64,
        to: &Arc<File>,
        to_offset: u64,
        len: u64,
    ) -> Result<u64> {
        self.check_writable()?;
        let same = Arc::ptr_eq(from, to);
        // Most of what is waiting gets into the store while others still read and write these files.
        self.publish_file(from).await?;
        if !same {
            self.publish_file(to).await?;
        }
        // In the order of their numbers, so that two copies the opposite way never wait for each other.
        let (first, second) = if from.ino <= to.ino { (from, to) } else { (to, from) };
        let _first_alone = first.gate.write().await;
        let _second_alone = if same { None } else { Some(second.gate.write().await) };
        let size = from.lock().size;
        let len = len.min(size.saturating_sub(offset));
        if len == 0 {
            return Ok(0);
        }
        if to_offset.checked_add(len).is_none_or(|end| end > SIZE_MAX) {
            return Err(Error::TooLarge);
        }
        if same && offset < to_offset + len && to_offset < offset + len {
            return Err(Error::Invalid("the ranges to copy overlap"));
        }
        self.publish_file(from).await?;
        if !same {
            self.publish_file(to).await?;
        }
        let len = self.meta.clone_range(from.ino, offset, to.ino, to_offset, len).await?;
        let size = self.meta.attr(to.ino).await?.size;
        to.lock().was_published(size);
        Ok(len)
    }

    /// Takes set-uid and its like from a file whose content changes.
    pub(crate) async fn clear_privileges(&self, ino: Ino) -> Result<()> {
        let change = ChangeAttr { clear_privileges: true, quiet: true, ..ChangeAttr::default() };
        self.meta.change_attr(ino, &change).await?;
        Ok(())
    }
}

/// Cuts data that starts at `offset` of a file where a layer may have to end.
fn split(mut offset: u64, mut data: Bytes) -> Vec<(u64, Piece)> {
    let whole = data.len();
    let mut parts = Vec::with_capacity(1);
    while !data.is_empty() {
        let room = usize::try_from(FREEZE_BYTES - offset % FREEZE_BYTES).unwrap_or(usize::MAX);
        let mut part = data.split_to(room.min(data.len()));
        if part.len() < whole {
            // It would keep all of the buffer in memory.
            part = Bytes::copy_from_slice(&part);
        }
        let piece = Piece::Data(part);
        let len = piece.len();
        parts.push((offset, piece));
        offset += len;
    }
    parts
}

#[cfg(test)]
mod tests;
