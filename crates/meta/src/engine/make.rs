//! Making inodes.

use super::Inner;
use super::names::Changing;
use crate::Result;
use crate::record::{Inode, RecordKey};
use bytes::Bytes;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_vfs::{
    ACL_ACCESS, ACL_DEFAULT, Acl, Attr, Caller, Error as FileError, Ino, Kind, Make, Name, Node, PERMISSIONS, Timestamp,
};

/// The longest target of a symbolic link (`PATH_MAX` without its NUL).
const TARGET_MAX: usize = 4095;

impl Inner {
    pub(super) async fn make_named(
        self: &Arc<Self>,
        caller: Caller,
        parent: Ino,
        name: &Name,
        make: &Make,
    ) -> Result<Attr> {
        self.admit().await?;
        let _locked = self.locks.exclusive(&[parent]).await;
        let directory = self.live_directory(parent).await?;
        let mut changing = Changing::default();
        let now = Timestamp::now();
        let kind = kind_of(&make.node);
        let ino = self.pending.next_ino();
        self.add_name(&mut changing, parent, name, ino, kind).await?;
        let attr = self.new_inode(&mut changing, ino, caller, (parent, &directory), make, now).await?;
        self.resize(&mut changing, parent, 1, i32::from(kind == Kind::Directory), now).await?;
        // Held from the start: nobody has to look for what has just been made to have. Nobody else knows its number yet.
        match kind {
            Kind::Regular => self.hold_none(ino),
            Kind::Directory => self.cached.whole.know(ino, HashSet::new()),
            _ => {}
        }
        self.finish(changing);
        Ok(attr)
    }

    pub(super) async fn make_nameless(self: &Arc<Self>, caller: Caller, parent: Ino, make: &Make) -> Result<Attr> {
        self.admit().await?;
        if make.node != Node::Regular {
            return Err(FileError::Invalid("only a regular file can be made without a name").into());
        }
        let _locked = self.locks.exclusive(&[parent]).await;
        let directory = self.live_directory(parent).await?;
        let mut changing = Changing::default();
        let ino = self.pending.next_ino();
        let mut attr = self.new_inode(&mut changing, ino, caller, (parent, &directory), make, Timestamp::now()).await?;
        let inode = self.inode_in(&changing, ino).await?;
        changing.put_inode(ino, Inode { nlink: 0, flags: inode.flags | Inode::LINKABLE, ..(*inode).clone() });
        changing.transaction.put(&RecordKey::Orphan(ino), Bytes::from_static(&[1]));
        attr.nlink = 0;
        self.hold_none(ino);
        self.finish(changing);
        Ok(attr)
    }

    async fn new_inode(
        &self,
        changing: &mut Changing,
        ino: Ino,
        caller: Caller,
        (parent, directory): (Ino, &Inode),
        make: &Make,
        now: Timestamp,
    ) -> Result<Attr> {
        let kind = kind_of(&make.node);
        let (rdev, target) = match &make.node {
            Node::Special { kind: Kind::Regular | Kind::Directory | Kind::Symlink, .. } => {
                return Err(FileError::Invalid("not a special kind of file").into());
            }
            Node::Symlink(target) if target.is_empty() => return Err(FileError::NotFound.into()),
            Node::Symlink(target) if target.len() > TARGET_MAX => return Err(FileError::NameTooLong.into()),
            Node::Symlink(target) => (0, target.clone()),
            Node::Special { rdev, .. } => (*rdev, Bytes::new()),
            Node::Regular | Node::Directory => (0, Bytes::new()),
        };
        let mut inode = Inode {
            kind,
            mode: make.mode & PERMISSIONS,
            uid: caller.uid,
            gid: caller.gid,
            nlink: if kind == Kind::Directory { 2 } else { 1 },
            rdev,
            size: u64::try_from(target.len()).unwrap_or(0),
            data_bytes: 0,
            parent: if kind == Kind::Directory { parent } else { Ino(0) },
            atime: now,
            mtime: now,
            ctime: now,
            btime: now,
            flags: 0,
            target,
        };
        if directory.mode & libc::S_ISGID != 0 {
            inode.gid = directory.gid;
            inode.mode |= if kind == Kind::Directory { libc::S_ISGID } else { 0 };
        }
        self.inherit_acl(changing, ino, &mut inode, (parent, directory), make).await?;
        let attr = inode.attr(ino);
        changing.transaction.count_inodes(1);
        changing.put_inode(ino, inode);
        Ok(attr)
    }

    /// Applies the umask, or, where the directory has one, its default ACL instead (acl(5), "OBJECT CREATION AND DEFAULT ACLs").
    async fn inherit_acl(
        &self,
        changing: &mut Changing,
        ino: Ino,
        inode: &mut Inode,
        (parent, directory): (Ino, &Inode),
        make: &Make,
    ) -> Result<()> {
        if inode.kind == Kind::Symlink {
            inode.mode = 0o777;
            return Ok(());
        }
        let default = if directory.flags & Inode::DEFAULT_ACL == 0 {
            None
        } else {
            self.value(&RecordKey::Xattr(parent, Bytes::from_static(ACL_DEFAULT))).await?
        };
        let default = default.map(|value| Acl::parse(&value)).transpose()?.flatten();
        let Some(default) = default else {
            inode.mode &= !(make.umask & 0o777);
            return Ok(());
        };
        let inherited = default.inherit(inode.mode, inode.kind == Kind::Directory);
        inode.mode = inherited.mode;
        for (name, flag, value) in
            [(ACL_ACCESS, Inode::ACCESS_ACL, inherited.access), (ACL_DEFAULT, Inode::DEFAULT_ACL, inherited.default)]
        {
            if let Some(value) = value {
                changing.transaction.put(&RecordKey::Xattr(ino, Bytes::from_static(name)), value.encode());
                inode.flags |= Inode::XATTR | flag;
            }
        }
        Ok(())
    }
}

fn kind_of(node: &Node) -> Kind {
    match node {
        Node::Regular => Kind::Regular,
        Node::Directory => Kind::Directory,
        Node::Symlink(_) => Kind::Symlink,
        Node::Special { kind, .. } => *kind,
    }
}
