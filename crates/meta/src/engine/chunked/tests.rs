use super::*;
use object_store::memory::InMemory;
use slatedb::object_store_tag::{RetryReason, SstType, TableStoreKind};

const LEN: u64 = 2 * CHUNK_BYTES + 1000;

fn content(len: u64) -> Vec<u8> {
    (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

/// A table of [`LEN`] bytes, in `inner` and as it is read in chunks.
async fn table() -> (Arc<InMemory>, Arc<dyn ObjectStore>, Path) {
    let inner = Arc::new(InMemory::new());
    let path = Path::from("meta/compacted/1.sst");
    inner.put(&path, content(LEN).into()).await.unwrap();
    (Arc::clone(&inner), chunked(inner, 8 * CHUNK_BYTES), path)
}

#[tokio::test]
async fn every_range_is_what_the_object_holds() {
    let (_, store, path) = table().await;
    let whole = content(LEN);
    let edges = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, LEN - 1, LEN, LEN + 5];
    for start in edges.into_iter().filter(|start| *start < LEN) {
        for end in edges.into_iter().filter(|end| *end > start) {
            let expected = &whole[bytes(start)..bytes(end.min(LEN))];
            let options = GetOptions { range: Some(GetRange::Bounded(start..end)), ..GetOptions::default() };
            let found = store.get_opts(&path, options).await.unwrap();
            assert_eq!((found.range.clone(), found.meta.size), (start..end.min(LEN), LEN));
            assert!(found.bytes().await.unwrap() == expected, "{start}..{end}");
        }
    }
}

/// Shows what comes from memory, and what from the store: nothing is there any more.
#[tokio::test]
async fn a_chunk_is_fetched_once() {
    let (inner, store, path) = table().await;
    store.get_range(&path, 10..20).await.unwrap();
    inner.delete(&path).await.unwrap();
    assert_eq!(store.get_range(&path, 4096..8192).await.unwrap(), content(8192)[4096..]);
    store.get_range(&path, CHUNK_BYTES - 1..CHUNK_BYTES + 1).await.unwrap_err();
}

#[tokio::test]
async fn what_was_damaged_is_read_from_the_store() {
    let (inner, store, path) = table().await;
    store.get_range(&path, 10..20).await.unwrap();
    inner.put(&path, vec![7; bytes(LEN)].into()).await.unwrap();
    let mut tag = ObjectStoreCallTag::new(TableStoreKind::Main, SstType::Compacted);
    tag.retry = Some(RetryReason::CrcMismatch);
    let range = Some(GetRange::Bounded(10..20));
    let options = GetOptions { range, extensions: tag.into(), ..GetOptions::default() };
    assert_eq!(store.get_opts(&path, options).await.unwrap().bytes().await.unwrap(), vec![7; 10]);
}

#[tokio::test]
async fn other_objects_and_other_reads_are_left_alone() {
    let (inner, store, table) = table().await;
    let manifest = Path::from("meta/manifest/1.manifest");
    for path in [&table, &manifest] {
        inner.put(path, "old".into()).await.unwrap();
        assert_eq!(store.get(path).await.unwrap().bytes().await.unwrap(), "old");
        inner.put(path, "new".into()).await.unwrap();
        assert_eq!(store.get(path).await.unwrap().bytes().await.unwrap(), "new");
    }
    assert_eq!(store.get_range(&manifest, 0..2).await.unwrap(), "ne");
    inner.put(&manifest, "end".into()).await.unwrap();
    assert_eq!(store.get_range(&manifest, 0..2).await.unwrap(), "en");
}
