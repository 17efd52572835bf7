use super::*;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;

#[tokio::test]
async fn what_was_written_is_read_and_nothing_else() {
    let inner = Arc::new(InMemory::new());
    let store = sealed(inner.clone(), Fences::Sealed);
    let path = Path::from("meta/manifest/1.manifest");
    for content in ["", "tables"] {
        store.put(&path, content.into()).await.unwrap();
        let found = store.get(&path).await.unwrap();
        assert_eq!(found.meta.size, content.len() as u64);
        assert_eq!(found.bytes().await.unwrap(), content);
        assert_eq!(store.head(&path).await.unwrap().size, content.len() as u64);
    }
    let stored = inner.get(&path).await.unwrap().bytes().await.unwrap();
    for bit in 0..8 * stored.len() {
        let mut flipped = stored.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        inner.put(&path, flipped.into()).await.unwrap();
        is_damaged(&store, &path).await;
    }
    for len in 0..stored.len() {
        inner.put(&path, stored.slice(..len).into()).await.unwrap();
        is_damaged(&store, &path).await;
    }
    // One object in the place of another.
    let other = Path::from("meta/manifest/2.manifest");
    inner.put(&other, stored.into()).await.unwrap();
    is_damaged(&store, &other).await;
}

async fn is_damaged(store: &Arc<dyn ObjectStore>, path: &Path) {
    let error = store.get(path).await.unwrap_err();
    assert!(error.to_string().contains(path.as_ref()), "{error}");
    assert!(NonRetryable::find(&error).is_some(), "{error}");
}

#[tokio::test]
async fn tables_are_left_alone() {
    let inner = Arc::new(InMemory::new());
    let store = sealed(inner.clone(), Fences::Sealed);
    let path = Path::from("meta/compacted/1.sst");
    store.put(&path, "blocks".into()).await.unwrap();
    assert_eq!(inner.get(&path).await.unwrap().bytes().await.unwrap(), "blocks");
    assert_eq!(store.get_range(&path, 1..3).await.unwrap(), "lo");
}

#[tokio::test]
async fn a_part_of_a_sealed_object_is_refused() {
    let store = sealed(Arc::new(InMemory::new()), Fences::Sealed);
    let path = Path::from("meta/manifest/1.manifest");
    store.put(&path, "tables".into()).await.unwrap();
    for error in [store.get_range(&path, 0..2).await.unwrap_err(), store.put_multipart(&path).await.unwrap_err()] {
        assert!(matches!(error, object_store::Error::NotSupported { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_fence_is_no_log_that_has_lost_its_bytes() {
    let inner = Arc::new(InMemory::new());
    let store = sealed(inner.clone(), Fences::Sealed);
    let (fence, log) = (Path::from("meta/wal/1.sst"), Path::from("meta/wal/2.sst"));
    store.put(&fence, "".into()).await.unwrap();
    store.put(&log, "blocks of a log".into()).await.unwrap();
    assert_eq!(store.head(&fence).await.unwrap().size, 0);
    assert_eq!(store.get(&fence).await.unwrap().bytes().await.unwrap(), "");
    assert_eq!(store.get(&log).await.unwrap().bytes().await.unwrap(), "blocks of a log");
    let sizes: Vec<u64> = store.list(None).map(|found| found.unwrap().size).collect().await;
    assert_eq!(sizes, [0, 15]);
    for left in ["", "blocks o"] {
        inner.put(&log, left.into()).await.unwrap();
        is_damaged(&store, &log).await;
        assert!(store.head(&log).await.is_err(), "{left:?} has a size");
    }
    // A fence in the place of a log.
    let stored = inner.get(&fence).await.unwrap().bytes().await.unwrap();
    inner.put(&log, stored.into()).await.unwrap();
    is_damaged(&store, &log).await;
}

#[tokio::test]
async fn older_volumes_have_empty_fences() {
    let inner = Arc::new(InMemory::new());
    let store = sealed(inner.clone(), Fences::Empty);
    let fence = Path::from("meta/wal/1.sst");
    store.put(&fence, "".into()).await.unwrap();
    assert_eq!(inner.head(&fence).await.unwrap().size, 0);
    assert_eq!(store.head(&fence).await.unwrap().size, 0);
}
