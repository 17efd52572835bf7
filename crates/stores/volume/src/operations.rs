//! [`Vfs`] by the volume.

use crate::volume::Volume;
use crate::writing::Open;
use async_trait::async_trait;
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use stoa_meta::ChangeAttr;
use stoa_vfs::{
    Allocate, Attr, CachePolicy, Caller, Cookie, DirPage, Entry, Error, Handle, Ino, Kind, Make, Name, OpenFlags,
    RenameMode, Result, Seek, SetAttr, SetTime, StatFs, Timestamp, Vfs, WriteFlags, XattrMode,
};

/// Bytes that `df` shows as the size of a store without a limit: 1 EiB, as much as programs that count in signed 64 bits bear well.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Inodes that can be made, for the same purpose.
const UNLIMITED_INODES: u64 = 1 << 48;

/// A read moves the access time on when it is this old (the kernel's `relatime`), in seconds.
const ATIME_OLD_SECS: i64 = 24 * 3600;

/// The longest that a read waits to have its time noted.
const ATIME_WAIT: Duration = Duration::from_millis(100);

impl Volume {
    /// Hands an entry out: a reference.
    async fn hand_out(&self, attr: Attr) -> Entry {
        self.references.add(attr.ino);
        Entry { attr: self.seen(attr).await }
    }

    /// Attributes as programs see them: with what was written to the file and is not published yet.
    pub(crate) async fn seen(&self, mut attr: Attr) -> Attr {
        if attr.kind != Kind::Regular {
            return attr;
        }
        let Some(file) = self.files.find(attr.ino) else {
            // What was dirty when `attr` was read may have been published since. A kernel keeps the size that it is told.
            return self.meta.attr(attr.ino).await.unwrap_or(attr);
        };
        let state = file.lock();
        attr.size = state.known_size().unwrap_or(attr.size);
        if state.is_dirty() {
            attr.blocks += state.dirty_bytes().div_ceil(512);
            if let Some(modified) = state.modified {
                attr.mtime = modified;
                attr.ctime = attr.ctime.max(modified);
            }
        }
        attr
    }

    /// Removes inodes that nobody can reach any more, in the background: a large file takes a while.
    fn reap(&self, ino: Ino) {
        self.files.drop_file(ino);
        self.meta.abandon(ino);
        let meta = Arc::clone(&self.meta);
        tokio::spawn(async move {
            if let Err(error) = meta.reap(ino).await {
                tracing::warn!(%error, %ino, "a deleted file was not removed; the next mount does it");
            }
        });
    }

    fn unlinked(&self, ino: Ino) {
        if self.references.unlinked(ino) {
            self.reap(ino);
        }
    }

    /// Moves the access time on, at most once a day, or when the content is newer (mount(8), `relatime`). Not while changes wait for
    /// the store: who reads what is at hand does not.
    async fn touch_atime(&self, attr: &Attr) {
        if !self.keeps_atime() {
            return;
        }
        let now = Timestamp::now();
        let newer = attr.atime <= attr.mtime || attr.atime <= attr.ctime;
        if self.meta.is_crowded()
            || !(newer || now.secs.saturating_sub(attr.atime.secs) >= ATIME_OLD_SECS)
            || attr.atime == now
        {
            return;
        }
        let change = ChangeAttr { atime: Some(SetTime::At(now)), quiet: true, ..ChangeAttr::default() };
        // An operation on another file may hold the same lock, and wait for the store.
        match tokio::time::timeout(ATIME_WAIT, self.meta.change_attr(attr.ino, &change)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, ino = %attr.ino, "an access time was not set"),
            Err(_) => tracing::debug!(ino = %attr.ino, "an access time was not set: it would have had to wait"),
        }
    }
}

#[async_trait]
impl Vfs for Volume {
    fn cache_policy(&self) -> CachePolicy {
        CachePolicy { exclusive: true, content_stays: true, ttl_ms: 0, read_only: self.is_read_only() }
    }

    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Entry> {
        Ok(self.hand_out(self.meta.lookup(parent, name).await?).await)
    }

    async fn entry(&self, ino: Ino) -> Result<Entry> {
        Ok(self.hand_out(self.meta.attr(ino).await?).await)
    }

    fn forget(&self, ino: Ino, count: u64) {
        if self.references.remove(ino, count) {
            self.reap(ino);
        }
    }

    async fn parent(&self, ino: Ino) -> Result<Ino> {
        Ok(self.meta.parent(ino).await?)
    }

    async fn getattr(&self, ino: Ino) -> Result<Attr> {
        Ok(self.seen(self.meta.attr(ino).await?).await)
    }

    async fn setattr(&self, ino: Ino, set: &SetAttr) -> Result<Attr> {
        self.check_writable()?;
        if let Some(size) = set.size {
            let file = self.file(ino).await?;
            self.truncate_file(&file, size).await?;
        }
        let change = ChangeAttr {
            mode: set.mode,
            uid: set.uid,
            gid: set.gid,
            atime: set.atime,
            mtime: set.mtime,
            ctime: set.ctime,
            clear_privileges: set.clear_privileges,
            quiet: false,
        };
        let file = if set.mtime.is_some() { self.files.find(ino) } else { None };
        let Some(file) = file else { return Ok(self.seen(self.meta.change_attr(ino, &change).await?).await) };
        let _times = file.times.lock().await;
        let attr = self.meta.change_attr(ino, &change).await?;
        file.lock().modified = None;
        Ok(self.seen(attr).await)
    }

    async fn readlink(&self, ino: Ino) -> Result<Bytes> {
        Ok(self.meta.readlink(ino).await?)
    }

    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Entry> {
        self.check_writable()?;
        Ok(self.hand_out(self.meta.make(caller, parent, name, make).await?).await)
    }

    async fn make_unnamed(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Entry> {
        self.check_writable()?;
        let entry = self.hand_out(self.meta.make_unnamed(caller, parent, make).await?).await;
        self.references.unlinked(entry.attr.ino);
        Ok(entry)
    }

    async fn link(&self, ino: Ino, parent: Ino, name: &Name) -> Result<Entry> {
        self.check_writable()?;
        let attr = self.meta.link(ino, parent, name).await?;
        self.references.linked(ino);
        Ok(self.hand_out(attr).await)
    }

    async fn unlink(&self, parent: Ino, name: &Name) -> Result<()> {
        self.check_writable()?;
        let linked = self.meta.unlink(parent, name).await?;
        if linked.links == 0 {
            self.unlinked(linked.ino);
        }
        Ok(())
    }

    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<()> {
        self.check_writable()?;
        let removed = self.meta.rmdir(parent, name).await?;
        self.unlinked(removed.ino);
        Ok(())
    }

    async fn rename(&self, parent: Ino, name: &Name, to: Ino, new_name: &Name, mode: RenameMode) -> Result<()> {
        self.check_writable()?;
        if mode == RenameMode::Replace && self.meta.lookup(to, new_name).await.is_ok() {
            // The new content gets there before the old is given up, as on ext4.
            let moved = self.meta.lookup(parent, name).await?;
            if let Some(file) = self.files.find(moved.ino) {
                self.publish_file(&file).await?;
            }
        }
        if let Some(replaced) = self.meta.rename(parent, name, to, new_name, mode).await?
            && replaced.links == 0
        {
            self.unlinked(replaced.ino);
        }
        Ok(())
    }

    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage> {
        let mut page = self.meta.readdir(dir, after, count, attributes).await?;
        for entry in &mut page.entries {
            if let Some(entry) = &mut entry.entry {
                *entry = self.hand_out(entry.attr.clone()).await;
            }
        }
        if after == Cookie::START {
            self.touch_atime(&self.meta.attr(dir).await?).await;
        }
        Ok(page)
    }

    async fn open(&self, ino: Ino, flags: OpenFlags) -> Result<Handle> {
        if flags.write || flags.truncate {
            self.check_writable()?;
        }
        let file = self.file(ino).await?;
        let open = Open::new(file, flags, self.cache.read_ahead());
        if flags.truncate {
            self.truncate_file(&open.file, 0).await?;
            if flags.clear_privileges {
                self.clear_privileges(ino).await?;
            }
        }
        self.references.add(ino);
        Ok(self.handles.add(open))
    }

    async fn flush(&self, _ino: Ino, handle: Handle) -> Result<()> {
        let open = self.handles.get(handle)?;
        let dirty = {
            let mut state = open.file.lock();
            state.check()?;
            state.replacing = false;
            state.is_dirty()
        };
        // What this file waits for may never get into the store any more: said while somebody listens.
        if dirty { self.check() } else { Ok(()) }
    }

    async fn release(&self, ino: Ino, handle: Handle) {
        drop(self.handles.remove(handle));
        self.forget(ino, 1);
    }

    async fn read(&self, ino: Ino, handle: Handle, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        let open = self.handles.get(handle)?;
        let len = u64::try_from(size).unwrap_or(u64::MAX);
        let file_size = open.file.lock().size;
        let ahead = open.read_ahead.on_read(offset, len, file_size);
        let reading = self.read_file(&open.file, offset, size);
        let parts = match ahead {
            Some(range) => futures::future::join(reading, self.read_ahead(&open, range)).await.0?,
            None => reading.await?,
        };
        self.release_passed(&open).await;
        self.touch_atime(&self.meta.attr(ino).await?).await;
        Ok(parts)
    }

    async fn write(&self, ino: Ino, handle: Handle, offset: u64, data: Bytes, how: WriteFlags) -> Result<()> {
        let open = self.handles.get(handle)?;
        if !open.writable {
            return Err(Error::BadHandle);
        }
        if how.clear_privileges {
            self.clear_privileges(ino).await?;
        }
        self.write_file(&open.file, offset, data, how.cached).await?;
        self.check_open()
    }

    async fn fsync(&self, ino: Ino) -> Result<()> {
        self.check()?;
        let publish = async {
            match self.files.find(ino) {
                Some(file) => self.publish_file(&file).await,
                None => Ok(self.meta.attr(ino).await.map(drop)?),
            }
        };
        self.unless_refused(publish).await?;
        self.commit().await
    }

    async fn sync(&self) -> Result<()> {
        self.sync_all().await
    }

    async fn fallocate(&self, ino: Ino, offset: u64, len: u64, how: Allocate) -> Result<()> {
        let file = self.file(ino).await?;
        self.allocate_file(&file, offset, len, how).await
    }

    async fn seek(&self, ino: Ino, offset: u64, what: Seek) -> Result<u64> {
        let file = self.file(ino).await?;
        self.seek_file(&file, offset, what).await
    }

    async fn copy_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64> {
        let from = self.file(ino).await?;
        let to = self.file(to).await?;
        self.copy_file_range(&from, offset, &to, to_offset, len).await
    }

    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        Ok(self.meta.getxattr(ino, name).await?)
    }

    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>> {
        Ok(self.meta.listxattr(ino).await?)
    }

    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, clear_setgid: bool) -> Result<()> {
        self.check_writable()?;
        Ok(self.meta.setxattr(ino, name, value, mode, clear_setgid).await?)
    }

    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()> {
        self.check_writable()?;
        Ok(self.meta.removexattr(ino, name).await?)
    }

    async fn statfs(&self) -> Result<StatFs> {
        let totals = self.meta.totals();
        let used = totals.data_bytes + self.budget.used();
        Ok(StatFs {
            bytes_total: UNLIMITED_BYTES,
            bytes_free: UNLIMITED_BYTES.saturating_sub(used),
            inodes_used: totals.inodes,
            inodes_free: UNLIMITED_INODES.saturating_sub(totals.inodes),
        })
    }
}
