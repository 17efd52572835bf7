//! Opening, closing, and asking a volume.

use crate::{
    Error, FileInfo, FormatOptions, FsckOptions, FsckReport, GcReport, OpenOptions, Progress, Result, Status, VolumeInfo,
};
use object_store::ObjectStore;
use std::sync::Arc;
use stoa_vfs::Ino;

/// An open volume. Implements [`stoa_vfs::Vfs`].
#[derive(Debug)]
pub struct Volume {}

/// Makes an empty volume in `store`, which must hold nothing yet.
///
/// # Errors
/// [`Error::Exists`], [`Error::NotEmpty`], [`Error::Store`].
pub async fn format(_store: Arc<dyn ObjectStore>, _options: &FormatOptions) -> Result<VolumeInfo> {
    Err(Error::Io("not built yet".into()))
}

impl Volume {
    /// Reads what the volume in `store` is, without opening it.
    pub async fn describe(_store: Arc<dyn ObjectStore>) -> Result<VolumeInfo> {
        Err(Error::Io("not built yet".into()))
    }

    /// Opens the volume in `store` and takes it as its one owner.
    ///
    /// # Errors
    /// [`Error::NotAVolume`], [`Error::Newer`], [`Error::Owned`].
    pub async fn open(_store: Arc<dyn ObjectStore>, _options: OpenOptions) -> Result<Arc<Self>> {
        Err(Error::Io("not built yet".into()))
    }

    /// Makes everything durable, gives ownership back and stops. Returns once that is done; retries for as long as the store is away.
    pub async fn close(&self) -> Result<()> {
        Err(Error::Io("not built yet".into()))
    }

    /// How it is.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        None
    }

    /// Where the bytes of a file are.
    pub async fn file_info(&self, _ino: Ino) -> Result<FileInfo> {
        Err(Error::Io("not built yet".into()))
    }

    /// Checks the namespace against the segments.
    pub async fn fsck(&self, _options: FsckOptions, _progress: &dyn Progress) -> Result<FsckReport> {
        Err(Error::Io("not built yet".into()))
    }

    /// Deletes what nothing names any more and rewrites segments that are mostly dead.
    pub async fn gc(&self, _progress: &dyn Progress) -> Result<GcReport> {
        Err(Error::Io("not built yet".into()))
    }
}
