//! A store that counts and fails on demand, and pieces that check themselves.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use crc_fast::crc64_nvme;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::{Decode, Object, Piece};

/// What the store does to the next answers, one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Refuse,
    FlipFirstBit,
    CutShort,
}

/// Keeps objects in memory, remembers every range asked for, and fails when told to.
#[derive(Debug)]
pub(crate) struct Store {
    inner: InMemory,
    pub(crate) gets: Mutex<Vec<Range<u64>>>,
    pub(crate) faults: Mutex<Vec<Fault>>,
    /// Every GET takes a permit before it answers; closed gates hold none.
    pub(crate) gate: Semaphore,
}

impl Store {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: InMemory::new(),
            gets: Mutex::default(),
            faults: Mutex::default(),
            gate: Semaphore::new(1 << 20),
        })
    }

    /// A store whose GETs wait until permits are added to the gate.
    pub(crate) fn gated() -> Arc<Self> {
        let store = Self::new();
        store.gate.forget_permits(1 << 20);
        store
    }

    /// Makes an object of `count` pieces of `len` bytes, with `gap` bytes between them.
    pub(crate) async fn object(&self, id: u128, count: usize, len: usize, gap: usize) -> (Object, Vec<Piece>) {
        let mut bytes = Vec::new();
        let mut pieces = Vec::new();
        for index in 0..count {
            let offset = bytes.len() as u64;
            let payload = payload(id, index, len);
            bytes.extend_from_slice(&crc64_nvme(&payload).to_le_bytes());
            bytes.extend_from_slice(&payload);
            pieces.push(Piece { offset, len: (len + 8) as u32, weight: len as u32 });
            bytes.resize(bytes.len() + gap, 0xEE);
        }
        let path = Path::from(format!("data/{id:x}"));
        self.inner.put(&path, bytes.into()).await.unwrap();
        (Object { id, key: path.as_ref().into(), etag: None }, pieces)
    }

    pub(crate) fn gets(&self) -> usize {
        self.gets.lock().len()
    }

    pub(crate) async fn wait_for_gets(&self, count: usize) {
        for _ in 0..5000 {
            if self.gets() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("{} GETs came, not {count}", self.gets());
    }
}

/// The store as the cache sees it.
pub(crate) fn source(store: &Arc<Store>) -> Arc<dyn ObjectStore> {
    Arc::clone(store) as _
}

/// What a piece decodes to: different for every object and index.
pub(crate) fn payload(id: u128, index: usize, len: usize) -> Vec<u8> {
    let seed = crc64_nvme(&[&id.to_le_bytes()[..], &(index as u64).to_le_bytes()].concat());
    (0..len).map(|at| (seed >> (at % 8 * 8)) as u8 ^ (at / 8) as u8).collect()
}

/// Checks a piece's checksum and returns the rest of it, without a copy.
pub(crate) struct Checked;

impl Decode for Checked {
    fn decode(&self, _: usize, stored: Bytes) -> std::result::Result<Bytes, String> {
        let (crc, payload) = stored.split_first_chunk::<8>().ok_or("too short")?;
        if u64::from_le_bytes(*crc) != crc64_nvme(payload) {
            return Err("checksum mismatch".to_owned());
        }
        Ok(stored.slice(8..))
    }
}

pub(crate) fn checked() -> Arc<dyn Decode> {
    Arc::new(Checked)
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("test store")
    }
}

#[async_trait]
impl ObjectStore for Store {
    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let Some(GetRange::Bounded(range)) = options.range.clone() else { panic!("a GET without a range") };
        self.gets.lock().push(range);
        self.gate.acquire().await.unwrap().forget();
        let fault = self.faults.lock().pop();
        if fault == Some(Fault::Refuse) {
            return Err(object_store::Error::Generic { store: "test", source: "refused".into() });
        }
        let answer = self.inner.get_opts(path, options).await?;
        let (meta, range, attributes) = (answer.meta.clone(), answer.range.clone(), answer.attributes.clone());
        let extensions = answer.extensions.clone();
        let mut bytes = answer.bytes().await?.to_vec();
        match fault {
            Some(Fault::FlipFirstBit) => bytes[0] ^= 1,
            Some(Fault::CutShort) => bytes.truncate(bytes.len() - 1),
            _ => {}
        }
        // Odd chunks, so that pieces straddle them.
        let chunks: Vec<_> = bytes.chunks(10_007).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let payload = GetResultPayload::Stream(Box::pin(futures::stream::iter(chunks)));
        Ok(GetResult { payload, meta, range, attributes, extensions })
    }

    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(&self, path: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
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
