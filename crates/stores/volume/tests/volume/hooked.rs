//! A store in which something happens when a part of it is written.

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;
use std::sync::Arc;

/// What happens when an object below a prefix is put.
#[derive(Debug)]
pub(crate) enum Hook {
    /// Nothing, ever.
    Hang(&'static str),
    /// Another host takes the volume over first.
    TakeOver(&'static str),
}

#[derive(Debug)]
pub(crate) struct Hooked {
    inner: Arc<dyn ObjectStore>,
    hook: Hook,
}

impl Hooked {
    pub(crate) fn over(inner: &Arc<dyn ObjectStore>, hook: Hook) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(inner), hook })
    }
}

impl fmt::Display for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for Hooked {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        match self.hook {
            Hook::Hang(prefix) if location.prefix_matches(&Path::from(prefix)) => std::future::pending().await,
            Hook::TakeOver(prefix) if location.prefix_matches(&Path::from(prefix)) => {
                let other = r#"{"owner":{"host":"other","boot_id":"b","pid":7,"pid_started":1,"purpose":"/mnt"},"since":"now","ended":null}"#;
                self.inner.put(&Path::from("owners/00000002.json"), other.into()).await?;
            }
            _ => {}
        }
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
