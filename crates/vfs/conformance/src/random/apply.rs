//! Doing one operation of a script.

use super::held::Held;
use super::op::{Op, Path, SLOTS, XATTRS};
use super::seek::checked_seek;
use super::snapshot::{explicit, hash};
use crate::fs::{pattern, plain};
use bytes::Bytes;
use std::collections::BTreeMap;
use stoa_vfs::{
    ACL_ACCESS, ACL_DEFAULT, Acl, AclEntry, AclTag, Attr, Caller, Cookie, Error, Handle, Ino, Kind, Make, Node,
    OpenFlags, Result, SetAttr, SetTime, Timestamp, Vfs, WriteFlags,
};

/// The open files of one run of a script.
#[derive(Debug, Default)]
pub struct State {
    slots: [Option<(Ino, Handle)>; SLOTS],
}

impl State {
    /// Nothing is open.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Closes every open file, as before a remount.
    pub async fn close_all(&mut self, vfs: &dyn Vfs) {
        for slot in &mut self.slots {
            if let Some((ino, handle)) = slot.take() {
                vfs.release(ino, handle).await;
            }
        }
    }

    /// What is open in a slot; with nothing there an operation is refused before it reaches the store.
    fn open(&self, slot: usize) -> Result<(Ino, Handle)> {
        self.slots[slot].ok_or(Error::BadHandle)
    }

    async fn put(&mut self, vfs: &dyn Vfs, slot: usize, ino: Ino, handle: Handle) {
        if let Some((ino, handle)) = self.slots[slot].replace((ino, handle)) {
            vfs.release(ino, handle).await;
        }
    }
}

/// What came of an operation, without what may differ between two stores that are both right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, and has nothing to say.
    Done,
    /// It was refused with this errno.
    Refused(i32),
    /// Attributes.
    Attr(AttrView),
    /// How many bytes, and their hash.
    Bytes(usize, u64),
    /// A number of bytes.
    Count(u64),
    /// What a directory holds.
    List(BTreeMap<Vec<u8>, Kind>),
    /// Whether one inode is another.
    Same(bool),
}

/// The attributes that are the same on every store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttrView {
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Names.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device number.
    pub rdev: u32,
    /// Of anything but a directory.
    pub size: Option<u64>,
    /// Where the script set it.
    pub mtime: Option<Timestamp>,
}

impl AttrView {
    pub(super) fn new(attr: &Attr) -> Self {
        Self {
            kind: attr.kind,
            mode: attr.mode,
            nlink: attr.nlink,
            uid: attr.uid,
            gid: attr.gid,
            rdev: attr.rdev,
            size: (attr.kind != Kind::Directory).then_some(attr.size),
            mtime: explicit(attr.mtime),
        }
    }
}

/// Does `op` on `vfs`; every reference that it gets it gives back, except those of open files.
pub async fn apply(op: &Op, vfs: &dyn Vfs, state: &mut State) -> Outcome {
    match try_apply(op, vfs, state).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome::Refused(error.errno()),
    }
}

fn attr(attr: &Attr) -> Outcome {
    Outcome::Attr(AttrView::new(attr))
}

async fn try_apply(op: &Op, vfs: &dyn Vfs, state: &mut State) -> Result<Outcome> {
    match op {
        Op::Make { .. }
        | Op::Link { .. }
        | Op::LinkSlot { .. }
        | Op::Unlink { .. }
        | Op::Rmdir { .. }
        | Op::Rename { .. } => apply_name(op, vfs, state).await,
        Op::MakeUnnamed { .. } | Op::Open { .. } | Op::Close { .. } => apply_slot(op, vfs, state).await,
        Op::Resize { .. } | Op::ResizeSlot { .. } | Op::Chmod { .. } | Op::Chown { .. } | Op::SetTimes { .. } => {
            apply_attribute(op, vfs, state).await
        }
        Op::SetXattr { .. } | Op::SetAcl { .. } | Op::GetXattr { .. } | Op::RemoveXattr { .. } => {
            apply_xattr(op, vfs).await
        }
        Op::List { .. } | Op::Getattr { .. } | Op::GetattrSlot { .. } | Op::Readlink { .. } | Op::Parent { .. } => {
            apply_look(op, vfs, state).await
        }
        _ => apply_data(op, vfs, state).await,
    }
}

fn node(kind: Kind) -> Node {
    match kind {
        Kind::Regular => Node::Regular,
        Kind::Directory => Node::Directory,
        Kind::Symlink => Node::Symlink(Bytes::from_static(b"some/target")),
        kind => Node::Special { kind, rdev: 0 },
    }
}

async fn apply_name(op: &Op, vfs: &dyn Vfs, state: &State) -> Result<Outcome> {
    let mut held = Held::new(vfs);
    match op {
        Op::Make { at, kind, mode, umask, caller } => {
            let (dir, name) = held.walk_to_parent(at).await?;
            let make = Make { node: node(*kind), mode: *mode, umask: *umask };
            let made = vfs.make(*caller, dir, &name, &make).await?;
            return Ok(attr(&held.take(made)));
        }
        Op::Link { from, to } => {
            let ino = held.walk(from).await?;
            let (dir, name) = held.walk_to_parent(to).await?;
            let linked = vfs.link(ino, dir, &name).await?;
            return Ok(attr(&held.take(linked)));
        }
        Op::LinkSlot { slot, to } => {
            let (ino, _) = state.open(*slot)?;
            let (dir, name) = held.walk_to_parent(to).await?;
            let linked = vfs.link(ino, dir, &name).await?;
            return Ok(attr(&held.take(linked)));
        }
        Op::Unlink { at } => {
            let (dir, name) = held.walk_to_parent(at).await?;
            vfs.unlink(dir, &name).await?;
        }
        Op::Rmdir { at } => {
            let (dir, name) = held.walk_to_parent(at).await?;
            vfs.rmdir(dir, &name).await?;
        }
        Op::Rename { from, to, mode } => {
            let (dir, name) = held.walk_to_parent(from).await?;
            let (to, new_name) = held.walk_to_parent(to).await?;
            vfs.rename(dir, &name, to, &new_name, *mode).await?;
        }
        _ => unreachable!("not about names"),
    }
    Ok(Outcome::Done)
}

async fn apply_slot(op: &Op, vfs: &dyn Vfs, state: &mut State) -> Result<Outcome> {
    let mut held = Held::new(vfs);
    match op {
        Op::MakeUnnamed { slot, dir, mode } => {
            let dir = held.walk(dir).await?;
            let make = Make { mode: *mode, ..plain(Node::Regular) };
            let made = vfs.make_unnamed(Caller::ROOT, dir, &make).await?;
            let made = held.take(made);
            let flags = OpenFlags { write: true, ..OpenFlags::default() };
            let handle = vfs.open(made.ino, flags).await?;
            state.put(vfs, *slot, made.ino, handle).await;
            Ok(attr(&made))
        }
        Op::Open { slot, at, write, truncate, clear_privileges } => {
            let ino = held.walk(at).await?;
            let truncate = *write && *truncate;
            let clear_privileges = truncate && *clear_privileges;
            let flags = OpenFlags { read: true, write: *write, truncate, clear_privileges, uncached: false };
            let handle = vfs.open(ino, flags).await?;
            state.put(vfs, *slot, ino, handle).await;
            Ok(attr(&vfs.getattr(ino).await?))
        }
        Op::Close { slot } => {
            let (ino, handle) = state.open(*slot)?;
            state.slots[*slot] = None;
            vfs.flush(ino, handle).await?;
            vfs.release(ino, handle).await;
            Ok(Outcome::Done)
        }
        _ => unreachable!("not about slots"),
    }
}

async fn apply_data(op: &Op, vfs: &dyn Vfs, state: &State) -> Result<Outcome> {
    match op {
        Op::Read { slot, offset, size } => {
            let (ino, handle) = state.open(*slot)?;
            let bytes = vfs.read(ino, handle, *offset, *size).await?.concat();
            return Ok(Outcome::Bytes(bytes.len(), hash(&bytes)));
        }
        Op::Write { slot, offset, size, seed, clear_privileges } => {
            let (ino, handle) = state.open(*slot)?;
            let data = Bytes::from(pattern(*seed, *size));
            let how = WriteFlags { clear_privileges: *clear_privileges, cached: false };
            vfs.write(ino, handle, *offset, data, how).await?;
            return Ok(attr(&vfs.getattr(ino).await?));
        }
        Op::Fallocate { slot, offset, len, how } => {
            let (ino, _) = state.open(*slot)?;
            vfs.fallocate(ino, *offset, *len, *how).await?;
            return Ok(attr(&vfs.getattr(ino).await?));
        }
        Op::CopyRange { from, offset, to, to_offset, len } => {
            let ((from, _), (to, _)) = (state.open(*from)?, state.open(*to)?);
            return vfs.copy_range(from, *offset, to, *to_offset, *len).await.map(Outcome::Count);
        }
        Op::Seek { slot, offset, what } => {
            let (ino, handle) = state.open(*slot)?;
            checked_seek(vfs, ino, handle, *offset, *what).await?;
        }
        Op::Fsync { slot } => vfs.fsync(state.open(*slot)?.0).await?,
        Op::Flush { slot } => {
            let (ino, handle) = state.open(*slot)?;
            vfs.flush(ino, handle).await?;
        }
        Op::Sync => vfs.sync().await?,
        _ => unreachable!("not about data"),
    }
    Ok(Outcome::Done)
}

async fn apply_attribute(op: &Op, vfs: &dyn Vfs, state: &State) -> Result<Outcome> {
    let mut held = Held::new(vfs);
    let none = SetAttr::default();
    let (ino, set) = match op {
        Op::Resize { at, size } => (held.walk(at).await?, SetAttr { size: Some(*size), ..none }),
        Op::ResizeSlot { slot, size } => (state.open(*slot)?.0, SetAttr { size: Some(*size), ..none }),
        Op::Chmod { at, mode } => (held.walk(at).await?, SetAttr { mode: Some(*mode), ..none }),
        Op::Chown { at, uid, gid, clear_privileges } => {
            let set = SetAttr { uid: *uid, gid: *gid, clear_privileges: *clear_privileges, ..none };
            (held.walk(at).await?, set)
        }
        Op::SetTimes { at, secs, nanos } => {
            let time = Some(SetTime::At(Timestamp { secs: *secs, nanos: *nanos }));
            (held.walk(at).await?, SetAttr { atime: time, mtime: time, ..none })
        }
        _ => unreachable!("not about attributes"),
    };
    Ok(attr(&vfs.setattr(ino, &set).await?))
}

/// The name that a script's number stands for: the plain ones, and then the ACLs.
fn xattr(number: usize) -> &'static [u8] {
    XATTRS.iter().chain(&[ACL_ACCESS, ACL_DEFAULT]).nth(number).unwrap()
}

fn acl(user: Option<u32>, permissions: u16) -> Acl {
    let entry = |tag, permissions| AclEntry { tag, permissions };
    let mut entries = vec![entry(AclTag::Owner, 7), entry(AclTag::OwningGroup, permissions), entry(AclTag::Other, 4)];
    if let Some(user) = user {
        entries.insert(1, entry(AclTag::User(user), 6));
        entries.insert(3, entry(AclTag::Mask, permissions));
    }
    Acl::new(entries).unwrap()
}

async fn apply_xattr(op: &Op, vfs: &dyn Vfs) -> Result<Outcome> {
    let mut held = Held::new(vfs);
    match op {
        Op::SetXattr { at, name, size, seed, mode } => {
            let ino = held.walk(at).await?;
            vfs.setxattr(ino, xattr(*name), Bytes::from(pattern(*seed, *size)), *mode, false).await?;
            Ok(Outcome::Done)
        }
        Op::SetAcl { at, default, user, permissions } => {
            let ino = held.walk(at).await?;
            let name = if *default { ACL_DEFAULT } else { ACL_ACCESS };
            let value = acl(*user, *permissions).encode();
            vfs.setxattr(ino, name, value, stoa_vfs::XattrMode::Set, false).await?;
            Ok(attr(&vfs.getattr(ino).await?))
        }
        Op::GetXattr { at, name } => {
            let value = vfs.getxattr(held.walk(at).await?, xattr(*name)).await?;
            Ok(Outcome::Bytes(value.len(), hash(&value)))
        }
        Op::RemoveXattr { at, name } => {
            vfs.removexattr(held.walk(at).await?, xattr(*name)).await?;
            Ok(Outcome::Done)
        }
        _ => unreachable!("not about extended attributes"),
    }
}

async fn apply_look(op: &Op, vfs: &dyn Vfs, state: &State) -> Result<Outcome> {
    let mut held = Held::new(vfs);
    match op {
        Op::List { at, count } => list(vfs, &mut held, at, *count).await,
        Op::Getattr { at } => Ok(attr(&vfs.getattr(held.walk(at).await?).await?)),
        Op::GetattrSlot { slot } => Ok(attr(&vfs.getattr(state.open(*slot)?.0).await?)),
        Op::Readlink { at } => {
            let target = vfs.readlink(held.walk(at).await?).await?;
            Ok(Outcome::Bytes(target.len(), hash(&target)))
        }
        Op::Parent { at } => {
            // Of a path's own parents, so that the answer is the same whatever the numbers are.
            let mut dirs = at.clone();
            dirs.0.pop();
            let dir = held.walk(&dirs).await?;
            let ino = held.walk(at).await?;
            Ok(Outcome::Same(vfs.parent(ino).await? == dir))
        }
        _ => unreachable!("not about looking"),
    }
}

async fn list(vfs: &dyn Vfs, held: &mut Held<'_>, at: &Path, count: usize) -> Result<Outcome> {
    let dir = held.walk(at).await?;
    let mut entries = BTreeMap::new();
    let mut after = Cookie::START;
    loop {
        let page = vfs.readdir(dir, after, count, true).await?;
        for listed in page.entries {
            after = listed.cookie;
            let attr = held.take(listed.entry.unwrap());
            assert_eq!((attr.ino, attr.kind), (listed.ino, listed.kind), "an entry is not what its attributes say");
            let before = entries.insert(listed.name.as_bytes().to_vec(), listed.kind);
            assert_eq!(before, None, "{:?} was listed twice", listed.name);
        }
        if page.end {
            return Ok(Outcome::List(entries));
        }
    }
}
