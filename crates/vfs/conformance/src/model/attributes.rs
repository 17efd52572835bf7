//! Changing attributes.

use super::content::SIZE_MAX;
use super::inode::Inode;
use super::state::State;
use stoa_vfs::{ACL_ACCESS, Acl, Attr, Error, Ino, PERMISSIONS, Result, SetAttr, SetTime, Timestamp};

impl State {
    pub(super) fn setattr(&mut self, ino: Ino, set: &SetAttr) -> Result<Attr> {
        let inode = self.inode_mut(ino)?;
        if let Some(size) = set.size {
            // The only part that can fail comes first: all or none.
            let content = inode.content_mut()?;
            if size > SIZE_MAX {
                return Err(Error::TooLarge);
            }
            content.resize(size);
            inode.touch_mtime();
        }
        let cleared = set.clear_privileges && inode.clear_privileges();
        if let Some(mode) = set.mode {
            inode.chmod(mode & PERMISSIONS);
        }
        inode.uid = set.uid.unwrap_or(inode.uid);
        inode.gid = set.gid.unwrap_or(inode.gid);
        if let Some(time) = set.atime {
            inode.atime = resolve(time);
        }
        if let Some(time) = set.mtime {
            inode.mtime = resolve(time);
        }
        // A set that names nothing changes nothing, ctime included.
        let named = SetAttr { clear_privileges: false, ..set.clone() } != SetAttr::default();
        if let Some(ctime) = set.ctime {
            inode.ctime = ctime;
        } else if named || cleared {
            inode.touch_ctime();
        }
        Ok(inode.attr(ino))
    }
}

impl Inode {
    fn chmod(&mut self, mode: u32) {
        self.mode = mode;
        if let Some(value) = self.xattrs.get_mut(ACL_ACCESS)
            && let Ok(Some(mut acl)) = Acl::parse(value)
        {
            acl.apply_chmod(mode);
            *value = acl.encode();
        }
    }
}

fn resolve(time: SetTime) -> Timestamp {
    match time {
        SetTime::Now => Timestamp::now(),
        SetTime::At(time) => time,
    }
}
