//! Which object a file is of.

use crate::bucket::Bucket;
use crate::draft::Draft;
use serde::Serialize;
use stoa_vfs::{Ino, Result};

/// Which object a file is of, and what the store says of that (`stoa info`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileInfo {
    /// Its inode number.
    pub ino: u64,
    /// `regular`, `directory` or `symlink`.
    pub kind: &'static str,
    /// Length in bytes, as it is shown now.
    pub size: u64,
    /// The key of its object; of a directory, what the keys in it begin with.
    pub key: String,
    /// Whether something was written that is not in the store yet. Then the store has an older content, or none.
    pub dirty: bool,
    /// The tag of the content in the store, as the server gives it. `None` without an object, as most directories are, or while it is dirty;
    /// so for all that follow.
    pub etag: Option<String>,
    /// Which version it is, in a bucket that keeps versions.
    pub version: Option<String>,
    /// As it was stored.
    pub content_type: Option<String>,
    /// As it was stored; `None` for the one that a store uses if it is not told.
    pub storage_class: Option<String>,
}

impl Bucket {
    /// Which object a file or directory that the kernel refers to is of. One request.
    ///
    /// # Errors
    /// [`stoa_vfs::Error::Stale`] for an inode that nobody refers to, and what the store says.
    pub async fn file_info(&self, ino: Ino) -> Result<FileInfo> {
        let node = self.inodes.get(ino)?;
        let said = self.info(&node).await?;
        let dirty = node.draft.lock().await.as_ref().is_some_and(Draft::is_dirty);
        let attr = node.attr();
        let headers = said.as_ref().map(|said| said.headers.clone()).unwrap_or_default();
        let (etag, version) = said.map(|said| (said.etag, said.version)).unwrap_or_default();
        Ok(FileInfo {
            ino: ino.0,
            kind: attr.kind.name(),
            size: attr.size,
            key: node.target().key().to_owned(),
            dirty,
            etag,
            version,
            content_type: headers.content_type,
            storage_class: headers.storage.class,
        })
    }
}
