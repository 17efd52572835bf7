//! The store that notes what is refused.

use super::{Access, Refusals};
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Watched {
    pub(super) inner: Arc<dyn ObjectStore>,
    pub(super) refusals: Arc<Refusals>,
}

impl Refusals {
    /// Notes what became of a request.
    pub(super) fn note<T>(&self, access: Access, location: &Path, result: Result<T>) -> Result<T> {
        match &result {
            Ok(_) => self.accepted(access, location),
            Err(error) if is_answer(error) => {}
            Err(error) => self.refused(access, location, error),
        }
        result
    }
}

/// Whether an error is an answer that who asked can use: it says something of the object, or of what the store can do at all.
fn is_answer(error: &Error) -> bool {
    matches!(
        error,
        Error::NotFound { .. }
            | Error::AlreadyExists { .. }
            | Error::Precondition { .. }
            | Error::NotModified { .. }
            | Error::NotSupported { .. }
            | Error::NotImplemented { .. }
    )
}

/// What creates an object can miss nothing but the bucket, which may come back. SlateDB would take "not found" for final.
pub(super) fn missing_place(error: Error) -> Error {
    match error {
        Error::NotFound { source, .. } => Error::Generic { store: "bucket", source },
        other => other,
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Watched {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let updates = matches!(opts.mode, PutMode::Update(_));
        let put = self.inner.put_opts(location, payload, opts).await;
        let put = if updates { put } else { put.map_err(missing_place) };
        self.refusals.note(Access::Write, location, put)
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        match self.inner.put_multipart_opts(location, opts).await {
            // Nothing is accepted before it is complete.
            Ok(inner) => {
                let (refusals, location) = (Arc::clone(&self.refusals), location.clone());
                Ok(Box::new(WatchedUpload { inner, refusals, location }))
            }
            begun => self.refusals.note(Access::Write, location, begun.map_err(missing_place)),
        }
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.refusals.note(Access::Read, location, self.inner.get_opts(location, options).await)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.refusals.note(Access::Read, location, self.inner.get_ranges(location, ranges).await)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.inner.rename_opts(from, to, options).await
    }
}

/// An upload in parts.
#[derive(Debug)]
struct WatchedUpload {
    inner: Box<dyn MultipartUpload>,
    refusals: Arc<Refusals>,
    location: Path,
}

#[async_trait]
impl MultipartUpload for WatchedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let part = self.inner.put_part(data);
        let (refusals, location) = (Arc::clone(&self.refusals), self.location.clone());
        Box::pin(async move {
            let put = part.await;
            if put.is_err() { refusals.note(Access::Write, &location, put) } else { put }
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let completed = self.inner.complete().await;
        self.refusals.note(Access::Write, &self.location, completed)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}
