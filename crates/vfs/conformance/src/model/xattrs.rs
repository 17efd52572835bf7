//! Extended attributes and ACLs.

use super::inode::Inode;
use super::state::State;
use bytes::Bytes;
use stoa_vfs::{ACL_ACCESS, ACL_DEFAULT, Acl, Error, Ino, Kind, Result, XattrMode};

/// What xattr(7) allows.
const NAME_BYTES_MAX: usize = 255;
const VALUE_BYTES_MAX: usize = 65536;
/// All names of one inode together, each with a NUL: more could not be listed.
const LIST_BYTES_MAX: usize = 65536;

impl State {
    pub(super) fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        let inode = self.inode(ino)?;
        check_name(name)?;
        inode.xattrs.get(name).cloned().ok_or(Error::NoAttribute)
    }

    pub(super) fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>> {
        Ok(self.inode(ino)?.xattrs.keys().cloned().collect())
    }

    pub(super) fn setxattr(
        &mut self,
        ino: Ino,
        name: &[u8],
        value: Bytes,
        mode: XattrMode,
        clear_setgid: bool,
    ) -> Result<()> {
        let inode = self.inode_mut(ino)?;
        check_name(name)?;
        if value.len() > VALUE_BYTES_MAX {
            return Err(Error::ValueTooLarge);
        }
        match (mode, inode.xattrs.contains_key(name)) {
            (XattrMode::Create, true) => return Err(Error::Exists),
            (XattrMode::Replace, false) => return Err(Error::NoAttribute),
            _ => {}
        }
        if name == ACL_ACCESS {
            inode.set_access_acl(&value, clear_setgid)?;
        } else if name == ACL_DEFAULT {
            inode.set_default_acl(&value)?;
        } else {
            inode.set_plain(name, &value)?;
        }
        inode.touch_ctime();
        Ok(())
    }

    pub(super) fn removexattr(&mut self, ino: Ino, name: &[u8]) -> Result<()> {
        let inode = self.inode_mut(ino)?;
        check_name(name)?;
        inode.xattrs.remove(name).ok_or(Error::NoAttribute)?;
        inode.touch_ctime();
        Ok(())
    }
}

impl Inode {
    fn set_plain(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        let listed: usize = self.xattrs.keys().filter(|other| *other != name).map(|other| other.len() + 1).sum();
        if listed + name.len() + 1 > LIST_BYTES_MAX {
            return Err(Error::NoSpace);
        }
        self.xattrs.insert(Bytes::copy_from_slice(name), Bytes::copy_from_slice(value));
        Ok(())
    }

    fn set_access_acl(&mut self, value: &[u8], clear_setgid: bool) -> Result<()> {
        if self.kind() == Kind::Symlink {
            return Err(Error::Unsupported("ACL of a symbolic link"));
        }
        match Acl::parse(value)? {
            None => {
                self.xattrs.remove(ACL_ACCESS);
            }
            Some(acl) => {
                self.mode = (self.mode & !0o777) | acl.mode_from_acl();
                if acl.is_equivalent_to_mode() {
                    self.xattrs.remove(ACL_ACCESS);
                } else {
                    self.xattrs.insert(Bytes::from_static(ACL_ACCESS), acl.encode());
                }
            }
        }
        if clear_setgid {
            self.mode &= !libc::S_ISGID;
        }
        Ok(())
    }

    fn set_default_acl(&mut self, value: &[u8]) -> Result<()> {
        let acl = Acl::parse(value)?;
        match (self.kind(), acl) {
            (Kind::Symlink, _) => Err(Error::Unsupported("ACL of a symbolic link")),
            (_, None) => {
                self.xattrs.remove(ACL_DEFAULT);
                Ok(())
            }
            (Kind::Directory, Some(acl)) => {
                self.xattrs.insert(Bytes::from_static(ACL_DEFAULT), acl.encode());
                Ok(())
            }
            // What Linux answers: only a directory has something to pass on.
            (_, Some(_)) => Err(Error::Denied),
        }
    }
}

fn check_name(name: &[u8]) -> Result<()> {
    if name == ACL_ACCESS || name == ACL_DEFAULT {
        return Ok(());
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(Error::NameTooLong);
    }
    let namespaces = [b"user.".as_slice(), b"trusted.", b"security."];
    match namespaces.iter().find_map(|namespace| name.strip_prefix(*namespace)) {
        None => Err(Error::Unsupported("namespace of an extended attribute")),
        Some(b"") => Err(Error::Invalid("extended attribute without a name")),
        Some(_) => Ok(()),
    }
}
