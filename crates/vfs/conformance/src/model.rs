//! [`Model`]: a whole file system in memory, written to be obviously right.
//!
//! It is what random operations on a store are compared with, and the store under a door whose own cost is measured. So
//! it keeps everything under one lock in plain maps, and no operation on ordinary files or directories costs more than
//! its own size. Nothing limits how much memory its files take: it is for tests.

mod attributes;
mod content;
mod data;
mod directory;
mod inode;
mod names;
mod rename;
mod state;
mod xattrs;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use state::State;
use std::fmt;
use stoa_vfs::{
    Allocate, Attr, CachePolicy, Caller, Cookie, DirPage, Entry, Handle, Ino, Make, Name, OpenFlags, RenameMode,
    Result, Seek, SetAttr, StatFs, Vfs, XattrMode,
};

/// A file system in memory: the reference for every store.
pub struct Model {
    state: Mutex<State>,
}

impl Model {
    /// An empty file system: a root directory of mode 0755 that belongs to root.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Mutex::new(State::new()) }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").finish_non_exhaustive()
    }
}

#[async_trait]
impl Vfs for Model {
    fn cache_policy(&self) -> CachePolicy {
        CachePolicy { exclusive: true, content_stays: true, ttl_ms: 0, read_only: false }
    }

    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Entry> {
        self.state.lock().lookup(parent, name)
    }

    fn forget(&self, ino: Ino, count: u64) {
        self.state.lock().forget(ino, count);
    }

    async fn parent(&self, ino: Ino) -> Result<Ino> {
        self.state.lock().parent(ino)
    }

    async fn getattr(&self, ino: Ino) -> Result<Attr> {
        Ok(self.state.lock().inode(ino)?.attr(ino))
    }

    async fn setattr(&self, ino: Ino, set: &SetAttr) -> Result<Attr> {
        self.state.lock().setattr(ino, set)
    }

    async fn readlink(&self, ino: Ino) -> Result<Bytes> {
        self.state.lock().readlink(ino)
    }

    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Entry> {
        self.state.lock().make(caller, parent, name, make)
    }

    async fn make_unnamed(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Entry> {
        self.state.lock().make_unnamed(caller, parent, make)
    }

    async fn link(&self, ino: Ino, parent: Ino, name: &Name) -> Result<Entry> {
        self.state.lock().link(ino, parent, name)
    }

    async fn unlink(&self, parent: Ino, name: &Name) -> Result<()> {
        self.state.lock().unlink(parent, name)
    }

    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<()> {
        self.state.lock().rmdir(parent, name)
    }

    async fn rename(&self, parent: Ino, name: &Name, to: Ino, new_name: &Name, mode: RenameMode) -> Result<()> {
        self.state.lock().rename(parent, name, to, new_name, mode)
    }

    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage> {
        self.state.lock().readdir(dir, after, count, attributes)
    }

    async fn open(&self, ino: Ino, flags: OpenFlags) -> Result<Handle> {
        self.state.lock().open(ino, flags)
    }

    async fn flush(&self, ino: Ino, handle: Handle) -> Result<()> {
        self.state.lock().handle(ino, handle).map(|_| ())
    }

    async fn release(&self, ino: Ino, handle: Handle) {
        self.state.lock().release(ino, handle);
    }

    async fn read(&self, ino: Ino, handle: Handle, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        self.state.lock().read(ino, handle, offset, size)
    }

    async fn write(&self, ino: Ino, handle: Handle, offset: u64, data: Bytes, how: stoa_vfs::WriteFlags) -> Result<()> {
        self.state.lock().write(ino, handle, offset, &data, how)
    }

    async fn fsync(&self, ino: Ino) -> Result<()> {
        self.state.lock().inode(ino).map(|_| ())
    }

    async fn sync(&self) -> Result<()> {
        Ok(())
    }

    async fn fallocate(&self, ino: Ino, offset: u64, len: u64, how: Allocate) -> Result<()> {
        self.state.lock().fallocate(ino, offset, len, how)
    }

    async fn seek(&self, ino: Ino, offset: u64, what: Seek) -> Result<u64> {
        self.state.lock().seek(ino, offset, what)
    }

    async fn copy_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64> {
        self.state.lock().copy_range(ino, offset, to, to_offset, len)
    }

    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        self.state.lock().getxattr(ino, name)
    }

    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>> {
        self.state.lock().listxattr(ino)
    }

    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, clear_setgid: bool) -> Result<()> {
        self.state.lock().setxattr(ino, name, value, mode, clear_setgid)
    }

    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()> {
        self.state.lock().removexattr(ino, name)
    }

    async fn statfs(&self) -> Result<StatFs> {
        Ok(self.state.lock().statfs())
    }
}
