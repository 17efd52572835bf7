use crate::Latency;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn every_request_takes_the_delay() {
    let store = Latency::new(Arc::new(InMemory::new()), Duration::from_millis(30));
    let key = Path::from("k");
    let start = Instant::now();
    store.put(&key, "x".into()).await.unwrap();
    store.get(&key).await.unwrap().bytes().await.unwrap();
    store.list(None).try_collect::<Vec<_>>().await.unwrap();
    store.delete(&key).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(120));
}
