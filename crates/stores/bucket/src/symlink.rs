//! Symbolic links, as s3fs makes them: the content of the object is the target, and its user metadata say that it is a link.

use crate::bucket::Bucket;
use crate::error::told;
use crate::metadata;
use crate::reading::TARGET_BYTES_MAX;
use bytes::Bytes;
use std::time::SystemTime;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Condition, ObjectInfo};
use stoa_vfs::{Entry, Error, Kind, Result, SetAttr};

/// The permissions of every link.
const MODE: u32 = 0o777;

impl Bucket {
    /// Makes a symbolic link, which is in the store at once.
    pub(crate) async fn make_link(&self, key: &str, target: &Bytes, set: SetAttr) -> Result<Entry> {
        if !self.finder.asks_objects() {
            return Err(Error::Unsupported("symbolic links as objects: --attributes objects keeps and shows them"));
        }
        if target.is_empty() {
            return Err(Error::NotFound);
        }
        let size = target.len() as u64;
        if size > TARGET_BYTES_MAX {
            return Err(Error::NameTooLong);
        }
        let mut headers = self.headers(None);
        metadata::write_of(Kind::Symlink, &SetAttr { mode: Some(MODE), ..set }, &mut headers.metadata);
        let put = self.s3.put(key, target.clone().into(), &headers, &Condition::IfAbsent).await;
        let written = match put {
            Err(ObjectsError::Conflict { .. }) => return Err(Error::Exists),
            written => written.map_err(told)?,
        };
        self.changed(key);
        let modified = Some(SystemTime::now());
        let info = ObjectInfo { size, etag: Some(written.etag), modified, version: written.version, headers };
        let found = self.finder.asked(key, &info);
        // One of the same target may have been removed before.
        self.inodes.is_there(&found.target);
        Ok(self.inodes.hand_out(&found))
    }
}
