use crate::{Meter, Verb};
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;

#[tokio::test]
async fn requests_and_bytes_are_counted_by_verb() {
    let meter = Meter::new();
    let store = meter.wrap(Arc::new(InMemory::new()));
    let key = Path::from("a/b");
    store.put(&key, "hello".into()).await.unwrap();
    let before = meter.counts();
    assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap().len(), 5);
    assert_eq!(store.get_range(&key, 1..3).await.unwrap().len(), 2);
    store.head(&key).await.unwrap();
    assert!(store.get(&Path::from("missing")).await.is_err());
    store.list(None).try_collect::<Vec<_>>().await.unwrap();
    store.copy(&key, &Path::from("c")).await.unwrap();
    store.delete(&key).await.unwrap();

    let counts = meter.counts();
    assert_eq!((counts.of(Verb::Put), counts.bytes_out), (1, 5));
    assert_eq!((counts.of(Verb::Get), counts.bytes_in), (3, 7));
    assert_eq!(
        (counts.of(Verb::Head), counts.of(Verb::List), counts.of(Verb::Copy), counts.of(Verb::Delete)),
        (1, 1, 1, 1)
    );
    assert_eq!(counts.failures, 1);
    let later = counts.since(&before);
    assert_eq!((later.of(Verb::Put), later.total()), (0, 7));
}

#[tokio::test]
async fn parts_of_an_upload_are_counted() {
    let meter = Meter::new();
    let store = meter.wrap(Arc::new(InMemory::new()));
    let mut upload = store.put_multipart(&Path::from("big")).await.unwrap();
    upload.put_part("one".into()).await.unwrap();
    upload.put_part("three".into()).await.unwrap();
    upload.complete().await.unwrap();
    let counts = meter.counts();
    assert_eq!((counts.of(Verb::Part), counts.of(Verb::Multipart), counts.bytes_out), (2, 2, 8));
}
