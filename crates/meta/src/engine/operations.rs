//! [`Meta`] by the engine.

use super::Engine;
use crate::{
    ChangeAttr, Extent, FileUpdate, Fix, Linked, Meta, NewSegment, Result, SegmentId, SegmentUse, Totals, Visit,
};
use async_trait::async_trait;
use bytes::Bytes;
use std::collections::HashSet;
use std::ops::Range;
use stoa_vfs::{Attr, Caller, Cookie, DirPage, Error as FileError, Ino, Kind, Make, Name, RenameMode, XattrMode};

#[async_trait]
impl Meta for Engine {
    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Attr> {
        self.0.lookup_name(parent, name).await
    }
    async fn parent(&self, ino: Ino) -> Result<Ino> {
        let inode = self.0.inode(ino).await?;
        if inode.kind == Kind::Directory { Ok(inode.parent) } else { Err(FileError::NotDirectory.into()) }
    }
    async fn attr(&self, ino: Ino) -> Result<Attr> {
        Ok(self.0.inode(ino).await?.attr(ino))
    }
    async fn readlink(&self, ino: Ino) -> Result<Bytes> {
        let inode = self.0.inode(ino).await?;
        if inode.kind == Kind::Symlink {
            Ok(inode.target.clone())
        } else {
            Err(FileError::Invalid("not a symbolic link").into())
        }
    }
    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage> {
        self.0.read_directory(dir, after, count, attributes).await
    }

    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Attr> {
        self.0.make_named(caller, parent, name, make).await
    }
    async fn make_unnamed(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Attr> {
        self.0.make_nameless(caller, parent, make).await
    }
    async fn link(&self, ino: Ino, parent: Ino, name: &Name) -> Result<Attr> {
        self.0.link_name(ino, parent, name).await
    }
    async fn unlink(&self, parent: Ino, name: &Name) -> Result<Linked> {
        self.0.unlink_name(parent, name).await
    }
    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<Linked> {
        self.0.rmdir_name(parent, name).await
    }
    async fn rename(
        &self,
        parent: Ino,
        name: &Name,
        to: Ino,
        new_name: &Name,
        mode: RenameMode,
    ) -> Result<Option<Linked>> {
        self.0.rename_name(parent, name, to, new_name, mode).await
    }
    fn abandon(&self, ino: Ino) {
        self.0.abandoned.lock().insert(ino);
    }
    async fn reap(&self, ino: Ino) -> Result<()> {
        self.0.reap_inode(ino).await
    }
    async fn orphans(&self) -> Result<Vec<Ino>> {
        self.0.all_orphans().await
    }

    async fn change_attr(&self, ino: Ino, change: &ChangeAttr) -> Result<Attr> {
        self.0.change_attributes(ino, change).await
    }
    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        self.0.get_xattr(ino, name).await
    }
    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>> {
        self.0.list_xattrs(ino).await
    }
    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, clear_setgid: bool) -> Result<()> {
        self.0.set_xattr(ino, name, value, mode, clear_setgid).await
    }
    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()> {
        self.0.remove_xattr(ino, name).await
    }

    async fn extents(&self, ino: Ino, range: Range<u64>) -> Result<Vec<Extent>> {
        self.0.extents_of(ino, range).await
    }
    async fn extents_from(&self, ino: Ino, offset: u64, count: usize) -> Result<Vec<Extent>> {
        self.0.extents_after(ino, offset, count).await
    }
    async fn extents_in_segments(
        &self,
        ino: Ino,
        segments: &HashSet<SegmentId>,
        from: u64,
        count: usize,
    ) -> Result<Vec<Extent>> {
        self.0.extents_within(ino, segments, from, count).await
    }
    async fn publish(&self, segments: &[NewSegment], files: Vec<FileUpdate>) -> Result<()> {
        self.0.publish_files(segments, files).await
    }
    async fn replace(&self, ino: Ino, old: &[Extent], new: Vec<Extent>) -> Result<bool> {
        self.0.replace_extents(ino, old, new).await
    }
    async fn clone_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64> {
        self.0.clone_extents(ino, offset, to, to_offset, len).await
    }
    async fn collapse(&self, ino: Ino, range: Range<u64>) -> Result<()> {
        self.0.collapse_range(ino, range).await
    }
    async fn insert(&self, ino: Ino, range: Range<u64>) -> Result<()> {
        self.0.insert_range(ino, range).await
    }

    async fn segments(&self) -> Result<Vec<SegmentUse>> {
        self.0.all_segments().await
    }
    async fn sharers(&self, segment: SegmentId) -> Result<Vec<Ino>> {
        self.0.sharers_of(segment).await
    }
    async fn forget_segments(&self, segments: &[SegmentId]) -> Result<()> {
        self.0.drop_segments(segments).await
    }

    async fn commit(&self) -> Result<()> {
        self.0.commit_all().await
    }
    async fn refusal(&self) -> crate::Error {
        self.0.kv.refusals().any().await
    }
    fn check(&self) -> Result<()> {
        self.0.check_writable()
    }
    fn uncommitted(&self) -> u64 {
        self.0.uncommitted()
    }
    fn is_crowded(&self) -> bool {
        self.0.is_crowded()
    }
    fn totals(&self) -> Totals {
        let superblock = self.0.pending.superblock();
        Totals { data_bytes: superblock.data_bytes, inodes: superblock.inodes }
    }
    async fn visit(&self, visit: &mut dyn Visit) -> Result<()> {
        self.0.visit_all(visit).await
    }
    async fn fix(&self, fixes: &[Fix]) -> Result<()> {
        self.0.fix_all(fixes).await
    }
    async fn close(&self) -> Result<()> {
        self.0.commit_patiently().await?;
        self.0.closing.cancel();
        // Care under way ends first: it must not meet a closed store.
        let _no_care = self.0.caring.lock().await;
        let _no_commit = self.0.committing.lock().await;
        self.0.kv.close().await
    }
}
