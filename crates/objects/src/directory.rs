//! Objects as files under a directory.
//!
//! A put writes a temporary file, syncs it, renames (or, to create, links) it into place, and syncs every directory from
//! there up to the root: what was acknowledged survives a power loss, and no reader ever sees half an object.

mod errors;
mod layout;
mod list;
mod publish;
mod read;
mod sync;
mod upload;

use crate::{Error, Result};
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use layout::Layout;
use object_store::path::Path;
use object_store::{
    CopyMode, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, RenameTargetMode,
};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// How many keys of a delete share the syncs of their directories.
const DELETES_MAX: usize = 256;

/// A store that keeps each object as the file of its key, under a root directory.
///
/// - Several processes may use one directory: creates are atomic links, and updates check the tag under a file lock.
/// - An object's tag is made of its file's inode, size and time, which each put sets anew to the nanosecond.
/// - Attributes and tags of objects are refused as not supported. Deleting what is not there succeeds, as on S3.
/// - A key can't be both an object and the start of another (`a` and `a/b`), and no part of it may be over 255 bytes.
/// - Symbolic links and special files are not objects. Keys under `.stoa-tmp` are taken by temporary files.
#[derive(Debug)]
pub struct Directory {
    layout: Arc<Layout>,
}

impl Directory {
    /// Opens the directory `root`; it is made by the first put if only its last part is missing.
    ///
    /// Blocks for a moment: it looks at the directory, and removes temporary files older than a day.
    ///
    /// # Errors
    /// [`Error::BadOption`] when neither `root` nor its parent exist, or `root` is no directory; [`Error::Denied`] when it
    /// may not be read.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let layout = Layout::open(root.into()).map_err(|error| match error {
            layout::OpenError::Missing(path) => {
                Error::BadOption(format!("there is no directory {}: make it first", path.display()))
            }
            layout::OpenError::NoDirectory(path) => Error::BadOption(format!("{} is not a directory", path.display())),
            layout::OpenError::Io(path, error) => {
                let op = format!("opening {}", path.display());
                Error::from_store(op, &object_store::Error::Generic { store: errors::STORE, source: Box::new(error) })
            }
        })?;
        Ok(Self { layout: Arc::new(layout) })
    }

    /// Runs file-system calls where they may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Layout) -> object_store::Result<T> + Send + 'static,
    ) -> object_store::Result<T> {
        blocking(Arc::clone(&self.layout), work).await
    }
}

async fn blocking<T: Send + 'static>(
    layout: Arc<Layout>,
    work: impl FnOnce(&Layout) -> object_store::Result<T> + Send + 'static,
) -> object_store::Result<T> {
    tokio::task::spawn_blocking(move || work(&layout)).await?
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "directory {}", self.layout.root().display())
    }
}

#[async_trait]
impl ObjectStore for Directory {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> object_store::Result<PutResult> {
        errors::no_attributes(&opts.attributes, &opts.tags)?;
        let key = location.clone();
        self.blocking(move |layout| publish::put(layout, &key, &payload, &opts.mode)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        errors::no_attributes(&opts.attributes, &opts.tags)?;
        let key = location.clone();
        let layout = Arc::clone(&self.layout);
        self.blocking(move |_| upload::begin(layout, key)).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        let key = location.clone();
        self.blocking(move |layout| read::get(layout, &key, &options)).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> object_store::Result<Vec<Bytes>> {
        let (key, ranges) = (location.clone(), ranges.to_vec());
        self.blocking(move |layout| read::ranges(layout, &key, &ranges)).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        let layout = Arc::clone(&self.layout);
        locations
            .try_ready_chunks(DELETES_MAX)
            .then(move |chunk| {
                let layout = Arc::clone(&layout);
                async move {
                    let keys = chunk.map_err(|failed| failed.1)?;
                    blocking(layout, move |layout| Ok(publish::delete(layout, keys))).await
                }
            })
            .map_ok(stream::iter)
            .try_flatten()
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        list::list(Arc::clone(&self.layout), prefix.cloned(), None)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        list::list(Arc::clone(&self.layout), prefix.cloned(), Some(offset.clone()))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        let prefix = prefix.cloned().unwrap_or_default();
        self.blocking(move |layout| list::one_level(layout, &prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> object_store::Result<()> {
        let (from, to) = (from.clone(), to.clone());
        let mode = match options.mode {
            CopyMode::Overwrite => PutMode::Overwrite,
            CopyMode::Create => PutMode::Create,
        };
        self.blocking(move |layout| publish::copy(layout, &from, &to, &mode)).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> object_store::Result<()> {
        let (from, to) = (from.clone(), to.clone());
        let create = options.target_mode == RenameTargetMode::Create;
        self.blocking(move |layout| publish::rename(layout, &from, &to, create)).await
    }
}

#[cfg(test)]
mod tests;
