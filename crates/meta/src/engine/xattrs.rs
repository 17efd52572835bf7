//! Extended attributes and ACLs.

use super::Inner;
use super::names::Changing;
use super::read::bad;
use crate::Result;
use crate::record::{Inode, RecordKey};
use bytes::Bytes;
use std::sync::Arc;
use stoa_vfs::{ACL_ACCESS, ACL_DEFAULT, Acl, Error as FileError, Ino, Kind, Timestamp, XattrMode};

pub(super) const CAPABILITY: &[u8] = b"security.capability";

/// The label of SELinux. `ls -l` asks for that of every file, but of a file system that has none only once.
pub(super) const LABEL: &[u8] = b"security.selinux";

/// The longest name of an attribute, with its namespace (`XATTR_NAME_MAX`).
const NAME_MAX: usize = 255;

/// The longest value (`XATTR_SIZE_MAX`).
const VALUE_MAX: usize = 65536;

/// The flag of an inode that says it has this attribute, for those that are asked for all the time.
pub(super) fn flag(name: &[u8]) -> u8 {
    match name {
        ACL_ACCESS => Inode::ACCESS_ACL,
        ACL_DEFAULT => Inode::DEFAULT_ACL,
        CAPABILITY => Inode::CAPABILITY,
        _ => 0,
    }
}

fn has(inode: &Inode, name: &[u8]) -> bool {
    let flag = flag(name);
    inode.flags & Inode::XATTR != 0 && (flag == 0 || inode.flags & flag != 0)
}

impl Inner {
    pub(super) async fn get_xattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        if name == LABEL && !self.pending.superblock().labelled {
            return Err(FileError::Unsupported("a label, in a volume where none was ever set").into());
        }
        let inode = self.inode(ino).await?;
        if !has(&inode, name) {
            return Err(FileError::NoAttribute.into());
        }
        let key = RecordKey::Xattr(ino, Bytes::copy_from_slice(name));
        self.value(&key).await?.ok_or_else(|| FileError::NoAttribute.into())
    }

    pub(super) async fn list_xattrs(&self, ino: Ino) -> Result<Vec<Bytes>> {
        let _unchanged = self.locks.shared(&[ino]).await;
        let mut names = Vec::new();
        if self.locked_inode(ino).await?.flags & Inode::XATTR != 0 {
            self.scan_xattrs(ino, |key| {
                match RecordKey::decode(&key).map_err(|error| bad("attribute", ino, &error))? {
                    RecordKey::Xattr(_, name) => names.push(name),
                    _ => unreachable_kind(ino)?,
                }
                Ok(())
            })
            .await?;
        }
        Ok(names)
    }

    pub(super) async fn set_xattr(
        self: &Arc<Self>,
        ino: Ino,
        name: &[u8],
        value: Bytes,
        mode: XattrMode,
        clear_setgid: bool,
    ) -> Result<()> {
        check_name(name)?;
        if value.len() > VALUE_MAX {
            return Err(FileError::ValueTooLarge.into());
        }
        self.admit().await?;
        let _locked = self.locks.exclusive(&[ino]).await;
        let mut inode = (*self.locked_inode(ino).await?).clone();
        let key = RecordKey::Xattr(ino, Bytes::copy_from_slice(name));
        if mode != XattrMode::Set {
            let exists = has(&inode, name) && self.value(&key).await?.is_some();
            match (mode, exists) {
                (XattrMode::Create, true) => return Err(FileError::Exists.into()),
                (XattrMode::Replace, false) => return Err(FileError::NoAttribute.into()),
                _ => {}
            }
        }
        let mut changing = Changing::default();
        match checked_value(&mut inode, name, value, clear_setgid)? {
            Some(value) => {
                changing.transaction.put(&key, value);
                inode.flags |= Inode::XATTR | flag(name);
            }
            None => {
                changing.transaction.remove(&key);
                inode.flags &= !flag(name);
            }
        }
        inode.ctime = Timestamp::now();
        changing.put_inode(ino, inode);
        self.finish(changing);
        Ok(())
    }

    pub(super) async fn remove_xattr(self: &Arc<Self>, ino: Ino, name: &[u8]) -> Result<()> {
        self.admit().await?;
        let _locked = self.locks.exclusive(&[ino]).await;
        let mut inode = (*self.locked_inode(ino).await?).clone();
        let key = RecordKey::Xattr(ino, Bytes::copy_from_slice(name));
        if !has(&inode, name) || self.value(&key).await?.is_none() {
            return Err(FileError::NoAttribute.into());
        }
        let mut changing = Changing::default();
        changing.transaction.remove(&key);
        inode.flags &= !flag(name);
        inode.ctime = Timestamp::now();
        changing.put_inode(ino, inode);
        self.finish(changing);
        Ok(())
    }
}

/// The namespaces of xattr(7), with a name of 1 to 255 bytes in all.
pub(super) fn check_name(name: &[u8]) -> Result<()> {
    let namespaces: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];
    let own = namespaces.iter().find_map(|namespace| name.strip_prefix(*namespace));
    match own {
        _ if name == ACL_ACCESS || name == ACL_DEFAULT => Ok(()),
        None => Err(FileError::Unsupported("an attribute of an unknown namespace").into()),
        Some(own) if own.is_empty() || name.len() > NAME_MAX => {
            Err(FileError::Invalid("the name of an attribute has 1 to 255 bytes").into())
        }
        Some(_) => Ok(()),
    }
}

/// The value to keep for an attribute, if any: an ACL is checked, sets the mode, and is not kept when it says no more than a mode.
fn checked_value(inode: &mut Inode, name: &[u8], value: Bytes, clear_setgid: bool) -> Result<Option<Bytes>> {
    match name {
        ACL_ACCESS | ACL_DEFAULT if inode.kind == Kind::Symlink => {
            Err(FileError::Unsupported("an ACL of a symbolic link").into())
        }
        ACL_ACCESS => {
            let Some(acl) = Acl::parse(&value)? else { return Ok(None) };
            inode.mode = (inode.mode & !0o777) | acl.mode_from_acl();
            if clear_setgid {
                inode.mode &= !libc::S_ISGID;
            }
            Ok((!acl.is_equivalent_to_mode()).then(|| acl.encode()))
        }
        ACL_DEFAULT => match Acl::parse(&value)? {
            Some(_) if inode.kind != Kind::Directory => Err(FileError::Denied.into()),
            acl => Ok(acl.map(|acl| acl.encode())),
        },
        _ => Ok(Some(value)),
    }
}

fn unreachable_kind(ino: Ino) -> Result<()> {
    Err(crate::Error::Corrupt(format!("another kind of record among the attributes of inode {ino}")))
}
