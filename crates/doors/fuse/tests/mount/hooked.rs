//! The model behind a hook: what a test does before any operation of the store.

use async_trait::async_trait;
use bytes::Bytes;
use std::future::Future;
use std::pin::Pin;
use stoa_conformance::Model;
use stoa_vfs::{
    Allocate, Attr, CachePolicy, Caller, Cookie, DirPage, Entry, Handle, Ino, Make, Name, OpenFlags, RenameMode,
    Result, Seek, SetAttr, StatFs, Vfs, XattrMode,
};

type Wait = Pin<Box<dyn Future<Output = Result<()>> + Send>>;
type Hook = Box<dyn Fn(&'static str) -> Wait + Send + Sync>;

pub(crate) struct Hooked {
    inner: Model,
    policy: CachePolicy,
    hook: Hook,
}

impl Hooked {
    /// `hook` gets the name of each operation, and what it returns is awaited first; an error of it is the operation's.
    pub(crate) fn new<F>(hook: impl Fn(&'static str) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let inner = Model::new();
        let policy = inner.cache_policy();
        Self { inner, policy, hook: Box::new(move |op| Box::pin(hook(op))) }
    }

    /// The same, and others may change the store.
    pub(crate) fn shared(mut self) -> Self {
        self.policy = CachePolicy { exclusive: false, content_stays: false, ttl_ms: 0, ..self.policy };
        self
    }
}

#[async_trait]
impl Vfs for Hooked {
    fn cache_policy(&self) -> CachePolicy {
        self.policy
    }

    fn forget(&self, ino: Ino, count: u64) {
        self.inner.forget(ino, count);
    }

    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Entry> {
        (self.hook)("lookup").await?;
        self.inner.lookup(parent, name).await
    }

    async fn entry(&self, ino: Ino) -> Result<Entry> {
        (self.hook)("entry").await?;
        self.inner.entry(ino).await
    }

    async fn parent(&self, ino: Ino) -> Result<Ino> {
        (self.hook)("parent").await?;
        self.inner.parent(ino).await
    }

    async fn getattr(&self, ino: Ino) -> Result<Attr> {
        (self.hook)("getattr").await?;
        self.inner.getattr(ino).await
    }

    async fn setattr(&self, ino: Ino, set: &SetAttr) -> Result<Attr> {
        (self.hook)("setattr").await?;
        self.inner.setattr(ino, set).await
    }

    async fn readlink(&self, ino: Ino) -> Result<Bytes> {
        (self.hook)("readlink").await?;
        self.inner.readlink(ino).await
    }

    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Entry> {
        (self.hook)("make").await?;
        self.inner.make(caller, parent, name, make).await
    }

    async fn make_unnamed(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Entry> {
        (self.hook)("make_unnamed").await?;
        self.inner.make_unnamed(caller, parent, make).await
    }

    async fn link(&self, ino: Ino, parent: Ino, name: &Name) -> Result<Entry> {
        (self.hook)("link").await?;
        self.inner.link(ino, parent, name).await
    }

    async fn unlink(&self, parent: Ino, name: &Name) -> Result<()> {
        (self.hook)("unlink").await?;
        self.inner.unlink(parent, name).await
    }

    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<()> {
        (self.hook)("rmdir").await?;
        self.inner.rmdir(parent, name).await
    }

    async fn rename(&self, parent: Ino, name: &Name, to: Ino, new_name: &Name, mode: RenameMode) -> Result<()> {
        (self.hook)("rename").await?;
        self.inner.rename(parent, name, to, new_name, mode).await
    }

    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage> {
        (self.hook)("readdir").await?;
        self.inner.readdir(dir, after, count, attributes).await
    }

    async fn open(&self, ino: Ino, flags: OpenFlags) -> Result<Handle> {
        (self.hook)("open").await?;
        self.inner.open(ino, flags).await
    }

    async fn flush(&self, ino: Ino, handle: Handle) -> Result<()> {
        (self.hook)("flush").await?;
        self.inner.flush(ino, handle).await
    }

    async fn release(&self, ino: Ino, handle: Handle) {
        let _ = (self.hook)("release").await;
        self.inner.release(ino, handle).await;
    }

    async fn read(&self, ino: Ino, handle: Handle, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        (self.hook)("read").await?;
        self.inner.read(ino, handle, offset, size).await
    }

    async fn write(&self, ino: Ino, handle: Handle, offset: u64, data: Bytes, how: stoa_vfs::WriteFlags) -> Result<()> {
        (self.hook)("write").await?;
        self.inner.write(ino, handle, offset, data, how).await
    }

    async fn fsync(&self, ino: Ino) -> Result<()> {
        (self.hook)("fsync").await?;
        self.inner.fsync(ino).await
    }

    async fn sync(&self) -> Result<()> {
        (self.hook)("sync").await?;
        self.inner.sync().await
    }

    async fn fallocate(&self, ino: Ino, offset: u64, len: u64, how: Allocate) -> Result<()> {
        (self.hook)("fallocate").await?;
        self.inner.fallocate(ino, offset, len, how).await
    }

    async fn seek(&self, ino: Ino, offset: u64, what: Seek) -> Result<u64> {
        (self.hook)("seek").await?;
        self.inner.seek(ino, offset, what).await
    }

    async fn copy_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64> {
        (self.hook)("copy_range").await?;
        self.inner.copy_range(ino, offset, to, to_offset, len).await
    }

    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        (self.hook)("getxattr").await?;
        self.inner.getxattr(ino, name).await
    }

    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>> {
        (self.hook)("listxattr").await?;
        self.inner.listxattr(ino).await
    }

    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, clear_setgid: bool) -> Result<()> {
        (self.hook)("setxattr").await?;
        self.inner.setxattr(ino, name, value, mode, clear_setgid).await
    }

    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()> {
        (self.hook)("removexattr").await?;
        self.inner.removexattr(ino, name).await
    }

    async fn statfs(&self) -> Result<StatFs> {
        (self.hook)("statfs").await?;
        self.inner.statfs().await
    }
}
