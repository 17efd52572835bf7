//! Files that are copied by the server, without their bytes coming here (copy_file_range(2)).

use crate::bucket::Bucket;
use crate::draft::Draft;
use crate::found::Version;
use crate::inodes::Node;
use stoa_vfs::{Error, Result};

/// Why the server does not copy: the kernel reads and writes then.
const NOT_COPIED: Error = Error::Unsupported("copying ranges of objects");

impl Bucket {
    /// Has the server copy a whole file of at least a few MiB into one that is empty; this is in the store then.
    ///
    /// # Errors
    /// [`Error::Unsupported`] in all other cases, and when the server can't: the content has to be read and written.
    pub(crate) async fn copy_file(&self, from: &Node, offset: u64, to: &Node, to_offset: u64, len: u64) -> Result<u64> {
        let content = self.unwritten(from).await?;
        let whole = offset == 0 && to_offset == 0 && len >= content.size;
        let mut draft = to.draft.lock().await;
        let Some(writing) = draft.as_mut().filter(|_| whole) else { return Err(NOT_COPIED) };
        let copied = writing.copy(&self.sink(), &content).await;
        let version =
            copied.inspect_err(|error| tracing::debug!(%error, key = %content.key, "not copied by the server"));
        let version = version.ok().flatten().ok_or(NOT_COPIED)?;
        to.resized(version.size);
        self.rights.granted(&version.key);
        self.is_stored(to, version);
        Ok(content.size)
    }

    /// The content of a file, if the store has all of it.
    async fn unwritten(&self, node: &Node) -> Result<Version> {
        let written = node.draft.lock().await.as_ref().is_some_and(Draft::is_dirty);
        let version = node.version()?;
        if written || version.etag.is_none() { Err(NOT_COPIED) } else { Ok(version) }
    }
}
