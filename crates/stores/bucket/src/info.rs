//! Which object a file is of.

use crate::bucket::Bucket;
use crate::draft::Draft;
use crate::found::{Target, Version};
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
    /// How what the store has compares with what is shown.
    pub state: State,
    /// The tag of what the store has, as the server gives it. `None` where there is no object or no tag, and while it is being written; so for
    /// all that follow.
    pub etag: Option<String>,
    /// Which version it is, in a bucket that keeps versions.
    pub version: Option<String>,
    /// As it was stored.
    pub content_type: Option<String>,
    /// As it was stored; `None` for the one that a store uses if it is not told.
    pub storage_class: Option<String>,
}

/// How what the store has compares with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is the file.
    Stored,
    /// Something was written that is not in the store yet, which has an older content, or none.
    Written,
    /// Somebody has stored another content under the key, and this file is still shown as it was.
    Replaced,
    /// Somebody has removed it.
    Gone,
    /// A directory that is there only because of what is in it.
    Implied,
}

impl Bucket {
    /// Which object a file or directory that the kernel refers to is of. One request.
    ///
    /// # Errors
    /// [`stoa_vfs::Error::Stale`] for an inode that nobody refers to, and what the store says.
    pub async fn file_info(&self, ino: Ino) -> Result<FileInfo> {
        let node = self.inodes.get(ino)?;
        let (target, attr) = (node.target(), node.attr());
        let written = node.draft.lock().await.as_ref().is_some_and(Draft::is_dirty);
        let said = self.info(&node).await?;
        let state = match (&target, &said) {
            _ if written => State::Written,
            (Target::Directory(_), None) => State::Implied,
            (Target::Object(_), None) => State::Gone,
            (Target::Object(Version { etag: Some(shown), .. }), Some(said))
                if said.etag.as_deref().is_some_and(|etag| etag != &**shown) =>
            {
                State::Replaced
            }
            _ => State::Stored,
        };
        let headers = said.as_ref().map(|said| said.headers.clone()).unwrap_or_default();
        let (etag, version) = said.map(|said| (said.etag, said.version)).unwrap_or_default();
        Ok(FileInfo {
            ino: ino.0,
            kind: attr.kind.name(),
            size: attr.size,
            key: target.key().to_owned(),
            state,
            etag,
            version,
            content_type: headers.content_type,
            storage_class: headers.storage.class,
        })
    }
}
