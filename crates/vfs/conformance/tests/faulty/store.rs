//! The model with one fault.

use async_trait::async_trait;
use bytes::Bytes;
use stoa_conformance::Model;
use stoa_vfs::{
    Allocate, Attr, CachePolicy, Caller, Cookie, DirPage, Entry, Handle, Ino, Make, Name, OpenFlags, RenameMode,
    Result, Seek, SetAttr, StatFs, Vfs, XattrMode,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    NoReplaceReplaces,
    DataIsFoundLate,
    CopyIsShort,
    GrowingShowsJunk,
    EntriesAreSkipped,
    ModeIgnoresAcl,
    LinkCountIsOff,
    ForgetForgets,
}

pub(crate) struct Faulty {
    model: Model,
    fault: Fault,
}

impl Faulty {
    pub(crate) fn new(fault: Fault) -> Self {
        Self { model: Model::new(), fault }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

#[async_trait]
impl Vfs for Faulty {
    fn cache_policy(&self) -> CachePolicy {
        self.model.cache_policy()
    }
    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Entry> {
        self.model.lookup(parent, name).await
    }
    fn forget(&self, ino: Ino, count: u64) {
        if !self.has(Fault::ForgetForgets) {
            self.model.forget(ino, count);
        }
    }
    async fn parent(&self, ino: Ino) -> Result<Ino> {
        self.model.parent(ino).await
    }
    async fn getattr(&self, ino: Ino) -> Result<Attr> {
        self.model.getattr(ino).await
    }
    async fn setattr(&self, ino: Ino, set: &SetAttr) -> Result<Attr> {
        let before = self.model.getattr(ino).await?;
        let access = self.model.getxattr(ino, stoa_vfs::ACL_ACCESS).await;
        let after = self.model.setattr(ino, set).await?;
        if self.has(Fault::GrowingShowsJunk) && after.size > before.size {
            let handle = self.model.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await?;
            self.model
                .write(ino, handle, before.size, Bytes::from_static(b"j"), stoa_vfs::WriteFlags::default())
                .await?;
            self.model.release(ino, handle).await;
        }
        if self.has(Fault::ModeIgnoresAcl)
            && let Ok(access) = access
        {
            self.model.setxattr(ino, stoa_vfs::ACL_ACCESS, access, XattrMode::Set, false).await?;
        }
        Ok(after)
    }
    async fn readlink(&self, ino: Ino) -> Result<Bytes> {
        self.model.readlink(ino).await
    }
    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Entry> {
        self.model.make(caller, parent, name, make).await
    }
    async fn make_unnamed(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Entry> {
        self.model.make_unnamed(caller, parent, make).await
    }
    async fn link(&self, ino: Ino, parent: Ino, name: &Name) -> Result<Entry> {
        let mut entry = self.model.link(ino, parent, name).await?;
        entry.attr.nlink -= u32::from(self.has(Fault::LinkCountIsOff));
        Ok(entry)
    }
    async fn unlink(&self, parent: Ino, name: &Name) -> Result<()> {
        self.model.unlink(parent, name).await
    }
    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<()> {
        self.model.rmdir(parent, name).await
    }
    async fn rename(&self, parent: Ino, name: &Name, to: Ino, new_name: &Name, mode: RenameMode) -> Result<()> {
        let replaces = self.has(Fault::NoReplaceReplaces) && mode == RenameMode::NoReplace;
        let mode = if replaces { RenameMode::Replace } else { mode };
        self.model.rename(parent, name, to, new_name, mode).await
    }
    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage> {
        let mut page = self.model.readdir(dir, after, count, attributes).await?;
        if self.has(Fault::EntriesAreSkipped) && page.entries.len() == 3 {
            page.entries.remove(1);
        }
        Ok(page)
    }
    async fn open(&self, ino: Ino, flags: OpenFlags) -> Result<Handle> {
        self.model.open(ino, flags).await
    }
    async fn flush(&self, ino: Ino, handle: Handle) -> Result<()> {
        self.model.flush(ino, handle).await
    }
    async fn release(&self, ino: Ino, handle: Handle) {
        self.model.release(ino, handle).await;
    }
    async fn read(&self, ino: Ino, handle: Handle, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        self.model.read(ino, handle, offset, size).await
    }
    async fn write(&self, ino: Ino, handle: Handle, offset: u64, data: Bytes, how: stoa_vfs::WriteFlags) -> Result<()> {
        self.model.write(ino, handle, offset, data, how).await
    }
    async fn fsync(&self, ino: Ino) -> Result<()> {
        self.model.fsync(ino).await
    }
    async fn sync(&self) -> Result<()> {
        self.model.sync().await
    }
    async fn fallocate(&self, ino: Ino, offset: u64, len: u64, how: Allocate) -> Result<()> {
        self.model.fallocate(ino, offset, len, how).await
    }
    async fn seek(&self, ino: Ino, offset: u64, what: Seek) -> Result<u64> {
        let found = self.model.seek(ino, offset, what).await?;
        let size = self.model.getattr(ino).await?.size;
        let late = self.has(Fault::DataIsFoundLate) && what == Seek::Data;
        Ok(if late { (found + 4096).min(size - 1) } else { found })
    }
    async fn copy_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64> {
        let len = if self.has(Fault::CopyIsShort) { len.saturating_sub(1) } else { len };
        self.model.copy_range(ino, offset, to, to_offset, len).await
    }
    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        self.model.getxattr(ino, name).await
    }
    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>> {
        self.model.listxattr(ino).await
    }
    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, clear_setgid: bool) -> Result<()> {
        self.model.setxattr(ino, name, value, mode, clear_setgid).await
    }
    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()> {
        self.model.removexattr(ino, name).await
    }
    async fn statfs(&self) -> Result<StatFs> {
        self.model.statfs().await
    }
}
