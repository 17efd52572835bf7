use crate::{Error, probe};
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use std::fmt;

/// What a store in memory is made to lack.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lack {
    Nothing,
    Create,
    Update,
    Delete,
    List,
    Range,
}

#[derive(Debug)]
struct Lame {
    inner: InMemory,
    lack: Lack,
}

impl fmt::Display for Lame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lame {:?}", self.lack)
    }
}

#[async_trait]
impl ObjectStore for Lame {
    async fn put_opts(&self, location: &Path, payload: PutPayload, mut opts: PutOptions) -> Result<PutResult> {
        match (&opts.mode, self.lack) {
            (PutMode::Create, Lack::Create) | (PutMode::Update(_), Lack::Update) => opts.mode = PutMode::Overwrite,
            _ => {}
        }
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, mut options: GetOptions) -> Result<GetResult> {
        if self.lack == Lack::Range {
            options.range = None;
        }
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        if self.lack == Lack::Delete { locations } else { self.inner.delete_stream(locations) }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        if self.lack == Lack::List { futures::stream::empty().boxed() } else { self.inner.list(prefix) }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

async fn outcome(lack: Lack) -> (crate::Result<()>, usize) {
    let store = Lame { inner: InMemory::new(), lack };
    let result = probe(&store).await;
    (result, store.inner.list(None).count().await)
}

#[tokio::test]
async fn a_good_store_passes_and_is_left_empty() {
    assert_eq!(outcome(Lack::Nothing).await, (Ok(()), 0));
}

#[tokio::test]
async fn what_is_missing_is_named() {
    for (lack, word) in
        [(Lack::Create, "If-None-Match"), (Lack::Update, "If-Match"), (Lack::Delete, "DELETE"), (Lack::List, "LIST")]
    {
        let (result, left) = outcome(lack).await;
        let Err(Error::Unsupported { detail, .. }) = result else {
            panic!("{lack:?}: {result:?}");
        };
        assert!(detail.contains(word), "{detail}");
        assert_eq!(left, usize::from(lack == Lack::Delete), "{lack:?}: it cleans up");
    }
}

#[tokio::test]
async fn a_store_that_ignores_ranges_is_found_out() {
    let (result, left) = outcome(Lack::Range).await;
    assert!(matches!(result, Err(Error::Corrupt { .. })), "{result:?}");
    assert_eq!(left, 0);
}
