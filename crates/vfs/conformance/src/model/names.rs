//! Names: finding, making, linking, removing, listing.

use super::content::Content;
use super::directory::Directory;
use super::inode::{Body, Inode};
use super::state::State;
use bytes::Bytes;
use stoa_vfs::{
    ACL_ACCESS, ACL_DEFAULT, Acl, Caller, Cookie, DirEntry, DirPage, Entry, Error, Ino, Kind, Make, Name, Node,
    PERMISSIONS, Result,
};

/// The longest target of a symbolic link (`PATH_MAX` of Linux without its NUL).
const TARGET_MAX: usize = 4095;

impl State {
    pub(super) fn lookup(&mut self, parent: Ino, name: &Name) -> Result<Entry> {
        let ino = self.child(parent, name)?;
        self.entry(ino)
    }

    pub(super) fn child(&self, parent: Ino, name: &Name) -> Result<Ino> {
        self.inode(parent)?.directory()?.get(name).ok_or(Error::NotFound)
    }

    pub(super) fn parent(&self, ino: Ino) -> Result<Ino> {
        self.inode(ino)?.directory()?.parent.ok_or(Error::NotFound)
    }

    /// That `parent` is a directory which can take new entries.
    pub(super) fn check_alive(&self, parent: Ino) -> Result<()> {
        match self.inode(parent)?.directory()?.parent {
            Some(_) => Ok(()),
            None => Err(Error::NotFound),
        }
    }

    fn check_free(&self, parent: Ino, name: &Name) -> Result<()> {
        self.check_alive(parent)?;
        match self.child(parent, name) {
            Ok(_) => Err(Error::Exists),
            Err(_) => Ok(()),
        }
    }

    pub(super) fn make(&mut self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Entry> {
        self.check_free(parent, name)?;
        let inode = self.new_inode(caller, parent, make)?;
        let is_dir = inode.kind() == Kind::Directory;
        let ino = self.add(inode);
        let directory = self.inode_mut(parent)?;
        directory.directory_mut()?.insert(name, ino);
        directory.nlink += u32::from(is_dir);
        directory.touch_mtime();
        self.entry(ino)
    }

    pub(super) fn make_unnamed(&mut self, caller: Caller, parent: Ino, make: &Make) -> Result<Entry> {
        self.check_alive(parent)?;
        if make.node != Node::Regular {
            return Err(Error::Invalid("only a regular file can be without a name"));
        }
        let mut inode = self.new_inode(caller, parent, make)?;
        inode.nlink = 0;
        inode.linkable = true;
        let ino = self.add(inode);
        self.entry(ino)
    }

    fn new_inode(&self, caller: Caller, parent: Ino, make: &Make) -> Result<Inode> {
        let directory = self.inode(parent)?;
        let body = match &make.node {
            Node::Regular => Body::Regular(Content::default()),
            Node::Directory => Body::Directory(Directory::new(parent)),
            Node::Symlink(target) if target.is_empty() => return Err(Error::NotFound),
            Node::Symlink(target) if target.len() > TARGET_MAX => return Err(Error::NameTooLong),
            Node::Symlink(target) => Body::Symlink(Bytes::copy_from_slice(target)),
            Node::Special { kind: Kind::Regular | Kind::Directory | Kind::Symlink, .. } => {
                return Err(Error::Invalid("not a special file"));
            }
            Node::Special { kind, rdev } => Body::Special { kind: *kind, rdev: *rdev },
        };
        let is_dir = matches!(body, Body::Directory(_));
        let set_gid = directory.mode & libc::S_ISGID != 0;
        let gid = if set_gid { directory.gid } else { caller.gid };
        let inherited_bit = if set_gid && is_dir { libc::S_ISGID } else { 0 };
        let mode = (make.mode & PERMISSIONS) | inherited_bit;
        if matches!(body, Body::Symlink(_)) {
            return Ok(Inode::new(body, 0o777, caller.uid, gid));
        }
        let Some(default) = directory.xattrs.get(ACL_DEFAULT).and_then(|value| Acl::parse(value).ok().flatten()) else {
            return Ok(Inode::new(body, mode & !(make.umask & 0o777), caller.uid, gid));
        };
        let inherited = default.inherit(mode, is_dir);
        let mut inode = Inode::new(body, inherited.mode, caller.uid, gid);
        for (name, acl) in [(ACL_ACCESS, inherited.access), (ACL_DEFAULT, inherited.default)] {
            if let Some(acl) = acl {
                inode.xattrs.insert(Bytes::from_static(name), acl.encode());
            }
        }
        Ok(inode)
    }

    pub(super) fn link(&mut self, ino: Ino, parent: Ino, name: &Name) -> Result<Entry> {
        self.check_free(parent, name)?;
        let inode = self.inode_mut(ino)?;
        if inode.kind() == Kind::Directory {
            return Err(Error::NotPermitted);
        }
        if inode.nlink == 0 && !inode.linkable {
            return Err(Error::NotFound);
        }
        inode.nlink = inode.nlink.checked_add(1).ok_or(Error::TooManyLinks)?;
        inode.linkable = false;
        inode.touch_ctime();
        let directory = self.inode_mut(parent)?;
        directory.directory_mut()?.insert(name, ino);
        directory.touch_mtime();
        self.entry(ino)
    }

    pub(super) fn unlink(&mut self, parent: Ino, name: &Name) -> Result<()> {
        let ino = self.child(parent, name)?;
        if self.inode(ino)?.kind() == Kind::Directory {
            return Err(Error::IsDirectory);
        }
        self.remove_name(parent, name)?;
        self.drop_name(ino)
    }

    pub(super) fn rmdir(&mut self, parent: Ino, name: &Name) -> Result<()> {
        let ino = self.child(parent, name)?;
        if !self.inode(ino)?.directory()?.is_empty() {
            return Err(Error::NotEmpty);
        }
        self.remove_name(parent, name)?;
        self.inode_mut(parent)?.nlink -= 1;
        self.drop_name(ino)
    }

    pub(super) fn remove_name(&mut self, parent: Ino, name: &Name) -> Result<()> {
        let directory = self.inode_mut(parent)?;
        directory.directory_mut()?.remove(name);
        directory.touch_mtime();
        Ok(())
    }

    /// Counts one name of `ino` less; a directory had only the one.
    pub(super) fn drop_name(&mut self, ino: Ino) -> Result<()> {
        let inode = self.inode_mut(ino)?;
        match &mut inode.body {
            Body::Directory(directory) => {
                directory.parent = None;
                inode.nlink = 0;
            }
            _ => inode.nlink -= 1,
        }
        inode.touch_ctime();
        self.reap(ino);
        Ok(())
    }

    pub(super) fn readlink(&mut self, ino: Ino) -> Result<Bytes> {
        let inode = self.inode_mut(ino)?;
        inode.touch_atime();
        match &inode.body {
            Body::Symlink(target) => Ok(target.clone()),
            _ => Err(Error::Invalid("not a symbolic link")),
        }
    }

    pub(super) fn readdir(&mut self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage> {
        let directory = self.inode(dir)?.directory()?;
        let mut rest = directory.after(after);
        let found: Vec<_> = rest.by_ref().take(count).map(|(cookie, name, ino)| (cookie, name.clone(), ino)).collect();
        let end = rest.next().is_none();
        drop(rest);
        self.inode_mut(dir)?.touch_atime();
        let mut entries = Vec::with_capacity(found.len());
        for (cookie, name, ino) in found {
            let entry = if attributes { Some(self.entry(ino)?) } else { None };
            entries.push(DirEntry { name, ino, kind: self.inode(ino)?.kind(), cookie, entry });
        }
        Ok(DirPage { entries, end })
    }
}
