//! Makes a store as slow as one that is far away.

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A store whose every request takes a fixed time more. Reads wait before their first byte; parts and deletes wait each.
#[derive(Debug)]
pub struct Latency {
    inner: Arc<dyn ObjectStore>,
    delay: Duration,
}

impl Latency {
    /// `inner`, with `delay` added to every request.
    #[must_use]
    pub fn new(inner: Arc<dyn ObjectStore>, delay: Duration) -> Self {
        Self { inner, delay }
    }

    async fn wait(&self) {
        tokio::time::sleep(self.delay).await;
    }

    fn delayed<T: Send + 'static>(&self, stream: BoxStream<'static, Result<T>>) -> BoxStream<'static, Result<T>> {
        let delay = self.delay;
        futures::stream::once(async move {
            tokio::time::sleep(delay).await;
            stream
        })
        .flatten()
        .boxed()
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Latency {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.wait().await;
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.wait().await;
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        Ok(Box::new(LateUpload { inner, delay: self.delay }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.wait().await;
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.wait().await;
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let delay = self.delay;
        let late = locations.then(move |path| async move {
            tokio::time::sleep(delay).await;
            path
        });
        self.inner.delete_stream(late.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.delayed(self.inner.list(prefix))
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.delayed(self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.wait().await;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.wait().await;
        self.inner.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.wait().await;
        self.inner.rename_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct LateUpload {
    inner: Box<dyn MultipartUpload>,
    delay: Duration,
}

#[async_trait]
impl MultipartUpload for LateUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let part = self.inner.put_part(data);
        let delay = self.delay;
        Box::pin(async move {
            tokio::time::sleep(delay).await;
            part.await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        tokio::time::sleep(self.delay).await;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        tokio::time::sleep(self.delay).await;
        self.inner.abort().await
    }
}

#[cfg(test)]
mod tests;
