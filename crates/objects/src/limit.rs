//! Bounds how many requests are under way at once.

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// A store that has at most so many requests under way.
///
/// A read holds its place until its body has been read to the end or dropped, also when it has failed: whoever holds a
/// body and waits for another request must leave room for it. A listing holds one until its first entry only, because its
/// reader may well make a request for each entry; so does each bulk delete, whose keys may come from a listing. The
/// requests that these make after that are more than the limit.
#[derive(Debug)]
pub struct Limit {
    inner: Arc<dyn ObjectStore>,
    places: Places,
}

/// The places for requests under way. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Places(Arc<Semaphore>);

impl Places {
    /// So many places; at least one.
    pub(crate) fn new(requests: usize) -> Self {
        Self(Arc::new(Semaphore::new(requests.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// A place, once there is one: it is free again when the result is dropped.
    pub(crate) async fn take(&self) -> std::result::Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.0).acquire_owned().await
    }
}

impl Limit {
    /// `inner` with at most `requests` under way at once; at least one.
    #[must_use]
    pub fn new(inner: Arc<dyn ObjectStore>, requests: usize) -> Self {
        Self { inner, places: Places::new(requests) }
    }

    fn listed<T: Send + 'static>(&self, stream: BoxStream<'static, Result<T>>) -> BoxStream<'static, Result<T>> {
        let places = self.places.clone();
        // Fused, as an empty one is asked again by the chain.
        let mut stream = stream.fuse();
        futures::stream::once(async move {
            let first = match place(&places).await {
                Ok(_place) => stream.next().await,
                Err(error) => Some(Err(error)),
            };
            futures::stream::iter(first).chain(stream)
        })
        .flatten()
        .boxed()
    }
}

async fn place(places: &Places) -> Result<OwnedSemaphorePermit> {
    // The semaphore is never closed, so this is not met; but it is not a reason to panic either.
    places.take().await.map_err(|closed| Error::Generic { store: "limit", source: Box::new(closed) })
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Limit {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let _place = place(&self.places).await?;
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let _place = place(&self.places).await?;
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(LimitedUpload { inner, places: self.places.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let held = place(&self.places).await?;
        let mut result = self.inner.get_opts(location, options).await?;
        if let GetResultPayload::Stream(body) = result.payload {
            // `unfold` drops its state, and the place with it, as soon as the body has ended.
            let held_body = futures::stream::unfold((body, held), |(mut body, held)| async move {
                let chunk = body.next().await?;
                Some((chunk, (body, held)))
            });
            result.payload = GetResultPayload::Stream(held_body.boxed());
        }
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let _place = place(&self.places).await?;
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.listed(self.inner.delete_stream(locations))
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.listed(self.inner.list(prefix))
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.listed(self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let _place = place(&self.places).await?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let _place = place(&self.places).await?;
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        let _place = place(&self.places).await?;
        self.inner.rename_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct LimitedUpload {
    inner: Box<dyn MultipartUpload>,
    places: Places,
}

#[async_trait]
impl MultipartUpload for LimitedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let part = self.inner.put_part(data);
        let places = self.places.clone();
        Box::pin(async move {
            let _place = place(&places).await?;
            part.await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let _place = place(&self.places).await?;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        let _place = place(&self.places).await?;
        self.inner.abort().await
    }
}

#[cfg(test)]
mod tests;
