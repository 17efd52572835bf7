//! The trait that the volume calls: the namespace as transactions.

use crate::record::{Inode, Superblock};
use crate::{Extent, Result, SegmentId};
use async_trait::async_trait;
use bytes::Bytes;
use std::collections::HashSet;
use std::ops::Range;
use stoa_vfs::{Attr, Caller, Cookie, DirPage, Ino, Make, Name, RenameMode, SetTime, Timestamp, XattrMode};

/// The attributes to change in one operation: those of [`stoa_vfs::SetAttr`] but for the size, which only [`Meta::publish`] changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeAttr {
    /// New permission bits.
    pub mode: Option<u32>,
    /// New owner.
    pub uid: Option<u32>,
    /// New group.
    pub gid: Option<u32>,
    /// New access time.
    pub atime: Option<SetTime>,
    /// New modification time.
    pub mtime: Option<SetTime>,
    /// New change time; otherwise now, unless only the access time changes by [`ChangeAttr::quiet`].
    pub ctime: Option<Timestamp>,
    /// Clear set-uid, set-gid where the group may execute, and `security.capability`.
    pub clear_privileges: bool,
    /// Leave the change time as it is (an access time that follows a read).
    pub quiet: bool,
}

/// What to make of one file, as one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUpdate {
    /// The file.
    pub ino: Ino,
    /// Its new extents, in order, not overlapping each other; each replaces what the file had in that range.
    pub extents: Vec<Extent>,
    /// Its size afterwards. What lay beyond is cut.
    pub size: u64,
    /// Its times, where writing changed them.
    pub modified: Option<Timestamp>,
}

/// A segment that was uploaded, and acknowledged, before it is named here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewSegment {
    /// Its number.
    pub id: SegmentId,
    /// Bytes of the object.
    pub stored_bytes: u64,
    /// Bytes of file data in it.
    pub data_bytes: u64,
}

/// What is known of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentUse {
    /// The segment.
    pub segment: NewSegment,
    /// Bytes of extents that lie in it. A range that two files share counts twice.
    pub live_bytes: u64,
}

/// What the volume holds in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Bytes of file data, holes not counted.
    pub data_bytes: u64,
    /// Inodes.
    pub inodes: u64,
}

/// What became of an inode that lost a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linked {
    /// The inode.
    pub ino: Ino,
    /// How many names it has left. At 0 it stays until [`Meta::reap`].
    pub links: u32,
}

/// Something that is set right, or a file that gets a name: see [`Meta::fix`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// An inode has so many links.
    Links(Ino, u32),
    /// A directory has so many entries.
    Entries(Ino, u64),
    /// A file has so many bytes that are not in holes.
    DataBytes(Ino, u64),
    /// An inode has these of the flags that tell of extended attributes: [`Inode::ATTRIBUTES`].
    Attributes(Ino, u8),
    /// This is what there is to know of a segment, whether there was a record of it or not.
    Segment(SegmentUse),
    /// An inode has extents in a segment whose directory does not name it.
    Shared(SegmentId, Ino),
    /// The volume holds so much in all.
    Totals(Totals),
    /// This inode number, and every greater one, is free.
    NextIno(Ino),
    /// An inode that is not there, or has a name, does not wait to be removed.
    NotOrphan(Ino),
    /// An inode that lost its name gets one in `/lost+found`: its number.
    Unnamed(Ino),
}

/// Hears every record of a durable state, for a check: see [`Meta::visit`]. One kind after the other, in the order of the
/// methods here, and each in the order of its keys.
pub trait Visit: Send {
    /// A record that says that an inode is kept without a name until it is reaped.
    fn orphan(&mut self, ino: Ino);
    /// An inode.
    fn inode(&mut self, ino: Ino, inode: &Inode);
    /// An extended attribute; an inode that has it has these flags.
    fn xattr(&mut self, ino: Ino, name: &[u8], flags: u8);
    /// A directory entry.
    fn dentry(&mut self, parent: Ino, name: &Name, ino: Ino, kind: stoa_vfs::Kind);
    /// An extent.
    fn extent(&mut self, ino: Ino, extent: &Extent);
    /// A segment.
    fn segment(&mut self, segment: &SegmentUse);
    /// A record that says `segment` is shared with `ino`, which its own directory does not name.
    fn shared(&mut self, segment: SegmentId, ino: Ino);
    /// The superblock.
    fn superblock(&mut self, superblock: &Superblock);
    /// A record that can't be read, at any time: what it says is not heard.
    fn unreadable(&mut self, what: String);
    /// A record that is heard but can't be right, at any time.
    fn wrong(&mut self, what: String);
}

/// The namespace of a volume.
///
/// Every changing method is one transaction: done whole, seen by every later call, and durable once a [`Meta::commit`]
/// that began after it returned. Transactions become durable in the order in which they were done: a crash leaves a prefix.
#[async_trait]
pub trait Meta: std::fmt::Debug + Send + Sync + 'static {
    /// The attributes of `name` in `parent`.
    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Attr>;
    /// The directory that holds directory `ino`.
    async fn parent(&self, ino: Ino) -> Result<Ino>;
    /// The attributes of `ino`, with the size that was last published.
    async fn attr(&self, ino: Ino) -> Result<Attr>;
    /// The target of a symbolic link.
    async fn readlink(&self, ino: Ino) -> Result<Bytes>;
    /// See [`stoa_vfs::Vfs::readdir`].
    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage>;

    /// See [`stoa_vfs::Vfs::make`].
    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Attr>;
    /// Makes a regular file that has no name; [`Meta::reap`] removes it if it never gets one.
    async fn make_unnamed(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Attr>;
    /// See [`stoa_vfs::Vfs::link`].
    async fn link(&self, ino: Ino, parent: Ino, name: &Name) -> Result<Attr>;
    /// See [`stoa_vfs::Vfs::unlink`].
    async fn unlink(&self, parent: Ino, name: &Name) -> Result<Linked>;
    /// See [`stoa_vfs::Vfs::rmdir`].
    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<Linked>;
    /// See [`stoa_vfs::Vfs::rename`]. Returns what was replaced.
    async fn rename(
        &self,
        parent: Ino,
        name: &Name,
        to: Ino,
        new_name: &Name,
        mode: RenameMode,
    ) -> Result<Option<Linked>>;
    /// Says that nobody uses an inode without names any more: from now on it is stale, and [`Meta::reap`] is to remove it.
    fn abandon(&self, ino: Ino);
    /// Removes an inode without names and everything it had. Does nothing to one that has a name, or is gone.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for a directory with entries, which stays.
    async fn reap(&self, ino: Ino) -> Result<()>;
    /// Inodes without names, left by a mount that ended without reaping them.
    async fn orphans(&self) -> Result<Vec<Ino>>;

    /// Changes attributes and returns them all.
    async fn change_attr(&self, ino: Ino, change: &ChangeAttr) -> Result<Attr>;
    /// See [`stoa_vfs::Vfs::getxattr`].
    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes>;
    /// See [`stoa_vfs::Vfs::listxattr`].
    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>>;
    /// See [`stoa_vfs::Vfs::setxattr`].
    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, clear_setgid: bool) -> Result<()>;
    /// See [`stoa_vfs::Vfs::removexattr`].
    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()>;

    /// The extents that cover `range` of a file, cut to it and to the file's size.
    async fn extents(&self, ino: Ino, range: Range<u64>) -> Result<Vec<Extent>>;
    /// Up to `count` extents of a file, whole, from the one that covers `offset` on: for what goes through a file of any length.
    async fn extents_from(&self, ino: Ino, offset: u64, count: usize) -> Result<Vec<Extent>>;
    /// Like [`Meta::extents_from`], of those that lie in one of `segments`. None from 0 on means that the file names none of them:
    /// it is looked at as it is at one moment, however many extents it has.
    async fn extents_in_segments(
        &self,
        ino: Ino,
        segments: &HashSet<SegmentId>,
        from: u64,
        count: usize,
    ) -> Result<Vec<Extent>>;
    /// Names data that is in the object store: the one way in which extents, sizes and segments come to be. A file that
    /// was reaped meanwhile is passed over.
    async fn publish(&self, segments: &[NewSegment], files: Vec<FileUpdate>) -> Result<()>;
    /// Puts `new` in the place of `old` if the file still has exactly `old` in that range; says whether it did.
    async fn replace(&self, ino: Ino, old: &[Extent], new: Vec<Extent>) -> Result<bool>;
    /// Makes `len` bytes at `to_offset` of `to` share the extents at `offset` of `ino`; the target grows as needed. Returns how many
    /// bytes it did: fewer, but some, where these are very many extents.
    async fn clone_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64>;
    /// Takes `range` out of a file, and moves what follows down.
    async fn collapse(&self, ino: Ino, range: Range<u64>) -> Result<()>;
    /// Opens a hole at `range`, and moves what was there up.
    async fn insert(&self, ino: Ino, range: Range<u64>) -> Result<()>;

    /// Every segment, with what of it is live, in the state that is durable.
    async fn segments(&self) -> Result<Vec<SegmentUse>>;
    /// The inodes that share data of `segment` without being named in its directory.
    async fn sharers(&self, segment: SegmentId) -> Result<Vec<Ino>>;
    /// Forgets segments that nothing names any more; only after that may their objects be deleted.
    async fn forget_segments(&self, segments: &[SegmentId]) -> Result<()>;

    /// Returns once every transaction that was done before the call is durable.
    ///
    /// # Errors
    /// [`crate::Error::Refused`] while the store refuses; the commit goes on all the same. Any other error is final.
    async fn commit(&self) -> Result<()>;
    /// Returns once the store refuses something that commits or reads wait for, and says why. Trying goes on.
    async fn refusal(&self) -> crate::Error;
    /// # Errors
    /// Why nothing can be changed any more, if so.
    fn check(&self) -> Result<()>;
    /// Transactions done and not durable yet.
    fn uncommitted(&self) -> u64;
    /// Whether a change would wait by now, because so much is not durable yet.
    fn is_crowded(&self) -> bool;
    /// What the volume holds, with every transaction counted in.
    fn totals(&self) -> Totals;
    /// Shows every record of the state that is durable.
    async fn visit(&self, visit: &mut dyn Visit) -> Result<()>;
    /// Sets right what a check found: for a volume that nobody else uses meanwhile. Each fix is a transaction; none removes an inode,
    /// a name, an attribute or an extent.
    async fn fix(&self, fixes: &[Fix]) -> Result<()>;
    /// Commits, then closes the engine for good. Waits for as long as the store refuses.
    async fn close(&self) -> Result<()>;
}
