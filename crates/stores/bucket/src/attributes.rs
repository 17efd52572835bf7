//! Mode, owner, group and time of what is made, and of directories.

use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::error::told;
use crate::inodes::Node;
use crate::metadata;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Condition, Headers};
use stoa_vfs::{Attr, Caller, Error, Kind, Make, Result, SetAttr, SetTime};

/// The bit by which what is made in a directory gets its group.
const SET_GID: u32 = 0o2000;

impl Bucket {
    /// How what `caller` makes in the directory of `node` is to look; nothing, unless objects are asked for that.
    pub(crate) fn first_attributes(&self, caller: Caller, node: &Node, make: &Make) -> SetAttr {
        if !self.finder.asks_objects() {
            return SetAttr::default();
        }
        let above = node.attr();
        let inherits = above.mode & SET_GID != 0;
        let mode = make.mode & !make.umask;
        let is_directory = matches!(make.node, stoa_vfs::Node::Directory);
        SetAttr {
            mode: Some(if inherits && is_directory { mode | SET_GID } else { mode }),
            uid: Some(caller.uid),
            gid: Some(if inherits { above.gid } else { caller.gid }),
            ..SetAttr::default()
        }
    }

    /// Changes the attributes of a directory, in its marker. If there is none, it gets one.
    pub(crate) async fn change_directory(&self, node: &Node, directory: &Directory, set: &SetAttr) -> Result<()> {
        if set.size.is_some() {
            return Err(Error::IsDirectory);
        }
        let attr = node.attr();
        let set = without_what_is_so(set, &attr);
        if set.mode.is_none() && set.uid.is_none() && set.gid.is_none() && set.mtime.is_none() {
            return match set.atime {
                Some(_) => Err(Error::Unsupported("times of access of objects")),
                None => Ok(()),
            };
        }
        if !self.finder.asks_objects() {
            return Err(Error::Unsupported(
                "mode, owner and time of directories: --attributes objects keeps and shows them",
            ));
        }
        // What an object shows that says no time is when it was written: that of a directory changes with its other attributes then.
        let mtime = set.mtime.unwrap_or(SetTime::At(attr.mtime));
        let set = SetAttr { mtime: Some(mtime), ..set };
        self.change_marker(node, directory, |headers| {
            metadata::write_of(Kind::Directory, &set, &mut headers.metadata);
            Ok(())
        })
        .await?;
        node.changed(&set);
        Ok(())
    }

    /// Has the marker of a directory carry what `change` makes of what it carries. If there is none, it gets one.
    pub(crate) async fn change_marker(
        &self,
        node: &Node,
        directory: &Directory,
        change: impl FnOnce(&mut Headers) -> Result<()>,
    ) -> Result<()> {
        if directory.prefix().is_empty() || directory.is_continued() {
            return Err(Error::Unsupported("changing attributes of a directory that can't have a marker"));
        }
        if node.is_stale() {
            return Err(Error::Stale);
        }
        let (mut headers, condition) = match self.s3.head(directory.prefix(), None).await {
            Err(ObjectsError::NotFound { .. }) => (self.headers_of_marker(), Condition::IfAbsent),
            Err(error) => return Err(told(error)),
            Ok(info) if info.size > 0 => {
                return Err(Error::Unsupported("changing attributes of a directory whose marker has content"));
            }
            Ok(info) => {
                let etag = info.etag.ok_or(Error::Unsupported("changing a marker that the server gives no ETag of"))?;
                (info.headers, Condition::IfMatch(etag))
            }
        };
        change(&mut headers)?;
        let none = bytes::Bytes::new();
        let written = self.s3.put(directory.prefix(), none.into(), &headers, &condition).await;
        written.map_err(|error| if error.is_not_found() { Error::Stale } else { told(error) })?;
        self.changed(directory.prefix());
        Ok(())
    }
}

/// What `set` changes of mode and owner, and all else that it says.
pub(crate) fn without_what_is_so(set: &SetAttr, attr: &Attr) -> SetAttr {
    let other = |new: Option<u32>, old: u32| new.filter(|new| *new != old);
    let (mode, uid, gid) = (other(set.mode, attr.mode), other(set.uid, attr.uid), other(set.gid, attr.gid));
    SetAttr { mode, uid, gid, ..set.clone() }
}
