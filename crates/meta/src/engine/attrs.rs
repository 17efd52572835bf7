//! Changing attributes.

use super::Inner;
use super::names::Changing;
use super::xattrs::CAPABILITY;
use crate::record::{Inode, RecordKey};
use crate::{ChangeAttr, Result};
use bytes::Bytes;
use std::sync::Arc;
use stoa_vfs::{ACL_ACCESS, Acl, Attr, Ino, Kind, PERMISSIONS, SetTime, Timestamp};

impl Inner {
    pub(super) async fn change_attributes(self: &Arc<Self>, ino: Ino, change: &ChangeAttr) -> Result<Attr> {
        self.admit().await?;
        let _locked = self.locks.exclusive(&[ino]).await;
        if *change == ChangeAttr::default() {
            return Ok(self.locked_inode(ino).await?.attr(ino));
        }
        let before = self.locked_inode(ino).await?;
        let mut inode = (*before).clone();
        let mut changing = Changing::default();
        let now = Timestamp::now();
        inode.uid = change.uid.unwrap_or(inode.uid);
        inode.gid = change.gid.unwrap_or(inode.gid);
        if let Some(mode) = change.mode {
            inode.mode = mode & PERMISSIONS;
            self.mode_to_acl(&mut changing, ino, &inode).await?;
        }
        if change.clear_privileges {
            clear_privileges(&mut changing, ino, &mut inode);
        }
        let time = |set: SetTime| match set {
            SetTime::Now => now,
            SetTime::At(time) => time,
        };
        inode.atime = change.atime.map_or(inode.atime, time);
        inode.mtime = change.mtime.map_or(inode.mtime, time);
        if !change.quiet {
            inode.ctime = change.ctime.unwrap_or(now);
        }
        let attr = inode.attr(ino);
        if inode != *before {
            changing.put_inode(ino, inode);
            self.finish(changing);
        }
        Ok(attr)
    }

    /// Keeps the access ACL in step with a changed mode (acl(5), "CORRESPONDENCE").
    async fn mode_to_acl(&self, changing: &mut Changing, ino: Ino, inode: &Inode) -> Result<()> {
        if inode.flags & Inode::ACCESS_ACL == 0 {
            return Ok(());
        }
        let key = RecordKey::Xattr(ino, Bytes::from_static(ACL_ACCESS));
        if let Some(stored) = self.value(&key).await?
            && let Some(mut acl) = Acl::parse(&stored)?
        {
            acl.apply_chmod(inode.mode);
            changing.transaction.put(&key, acl.encode());
        }
        Ok(())
    }
}

/// What a change of content or owner takes away (`FUSE_HANDLE_KILLPRIV_V2`): set-uid, set-gid where the group may execute, and
/// file capabilities.
fn clear_privileges(changing: &mut Changing, ino: Ino, inode: &mut Inode) {
    if inode.kind != Kind::Regular {
        return;
    }
    inode.mode = stoa_vfs::without_privileges(inode.mode);
    if inode.flags & Inode::CAPABILITY != 0 {
        inode.flags &= !Inode::CAPABILITY;
        changing.transaction.remove(&RecordKey::Xattr(ino, Bytes::from_static(CAPABILITY)));
    }
}
