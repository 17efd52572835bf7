//! Multipart uploads whose every step can be repeated.

use crate::retry::PartRetry;
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartId, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A provider whose uploads can be completed again when the answer was lost, and whose parts are repeated under the policy of
/// the layer above. The provider's own forget their parts at the first completion.
#[derive(Debug)]
pub(crate) struct Uploads<T> {
    inner: Arc<T>,
}

impl<T: ObjectStore + MultipartStore> Uploads<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl<T: fmt::Display> fmt::Display for Uploads<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl<T: ObjectStore + MultipartStore> ObjectStore for Uploads<T> {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let retry = opts.extensions.get::<PartRetry>().cloned();
        let id = self.inner.create_multipart_opts(location, opts).await?;
        let upload = Under { store: Arc::clone(&self.inner), location: location.clone(), id };
        Ok(Box::new(Upload { upload: Arc::new(upload), retry, begun: 0, parts: Arc::default() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.inner.get_ranges(location, ranges).await
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

/// An upload under way.
struct Under<T> {
    store: Arc<T>,
    location: Path,
    id: MultipartId,
}

struct Upload<T> {
    upload: Arc<Under<T>>,
    retry: Option<PartRetry>,
    /// How many parts have been begun: the number of the next.
    begun: usize,
    /// The parts that have arrived, by their numbers.
    parts: Arc<Mutex<BTreeMap<usize, PartId>>>,
}

impl<T> fmt::Debug for Upload<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("location", &self.upload.location).finish_non_exhaustive()
    }
}

#[async_trait]
impl<T: ObjectStore + MultipartStore> MultipartUpload for Upload<T> {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let number = self.begun;
        self.begun += 1;
        let (upload, parts, retry) = (Arc::clone(&self.upload), Arc::clone(&self.parts), self.retry.clone());
        Box::pin(async move {
            let put = || upload.store.put_part(&upload.location, &upload.id, number, data.clone());
            let part = match &retry {
                Some(retry) => retry.run(&upload.location, data.content_length() as u64, put).await?,
                None => put().await?,
            };
            parts.lock().insert(number, part);
            Ok(())
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let parts: Vec<PartId> = self.parts.lock().values().cloned().collect();
        if parts.len() != self.begun {
            // Without this, a part that failed would just be left out of the object.
            let text = format!("{} of {} parts have been uploaded", parts.len(), self.begun);
            return Err(Error::NotSupported { source: text.into() });
        }
        let upload = &self.upload;
        upload.store.complete_multipart(&upload.location, &upload.id, parts).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.upload.store.abort_multipart(&self.upload.location, &self.upload.id).await
    }
}
