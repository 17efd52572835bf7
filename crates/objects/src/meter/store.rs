//! The store that counts.

use super::Meter;
use crate::Verb;
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Metered {
    pub(super) inner: Arc<dyn ObjectStore>,
    pub(super) meter: Meter,
}

impl fmt::Display for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Metered {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.meter.request(Verb::Put);
        self.meter.bytes_out(payload.content_length() as u64);
        self.meter.answer(self.inner.put_opts(location, payload, opts).await)
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.meter.request(Verb::Multipart);
        let inner = self.meter.answer(self.inner.put_multipart_opts(location, opts).await)?;
        Ok(Box::new(MeteredUpload { inner, meter: self.meter.clone() }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.meter.request(if options.head { Verb::Head } else { Verb::Get });
        let head = options.head;
        let mut result = self.meter.answer(self.inner.get_opts(location, options).await)?;
        if head {
            return Ok(result);
        }
        let meter = self.meter.clone();
        result.payload = match result.payload {
            GetResultPayload::Stream(body) => GetResultPayload::Stream(
                body.inspect(move |chunk| match chunk {
                    Ok(bytes) => meter.bytes_in(bytes.len() as u64),
                    Err(_) => meter.failure(),
                })
                .boxed(),
            ),
            file @ GetResultPayload::File(..) => {
                meter.bytes_in(result.range.end.saturating_sub(result.range.start));
                file
            }
        };
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.meter.request(Verb::Get);
        let parts = self.meter.answer(self.inner.get_ranges(location, ranges).await)?;
        self.meter.bytes_in(parts.iter().map(|part| part.len() as u64).sum());
        Ok(parts)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let meter = self.meter.clone();
        let counted = locations.inspect(move |_| meter.request(Verb::Delete)).boxed();
        let meter = self.meter.clone();
        self.inner.delete_stream(counted).map(move |result| meter.answer(result)).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.meter.request(Verb::List);
        let meter = self.meter.clone();
        self.inner.list(prefix).map(move |result| meter.answer(result)).boxed()
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.meter.request(Verb::List);
        let meter = self.meter.clone();
        self.inner.list_with_offset(prefix, offset).map(move |result| meter.answer(result)).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.meter.request(Verb::List);
        self.meter.answer(self.inner.list_with_delimiter(prefix).await)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.meter.request(Verb::Copy);
        self.meter.answer(self.inner.copy_opts(from, to, options).await)
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.meter.request(Verb::Copy);
        self.meter.answer(self.inner.rename_opts(from, to, options).await)
    }
}

#[derive(Debug)]
struct MeteredUpload {
    inner: Box<dyn MultipartUpload>,
    meter: Meter,
}

#[async_trait]
impl MultipartUpload for MeteredUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.meter.request(Verb::Part);
        self.meter.bytes_out(data.content_length() as u64);
        let meter = self.meter.clone();
        let part = self.inner.put_part(data);
        Box::pin(async move { meter.answer(part.await) })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.meter.request(Verb::Multipart);
        self.meter.answer(self.inner.complete().await)
    }

    async fn abort(&mut self) -> Result<()> {
        self.meter.request(Verb::Multipart);
        self.meter.answer(self.inner.abort().await)
    }
}
