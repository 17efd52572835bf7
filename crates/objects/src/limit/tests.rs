use crate::{Latency, Limit};
use futures::TryStreamExt;
use futures::future::join_all;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

fn slow(requests: usize) -> Limit {
    Limit::new(Arc::new(Latency::new(Arc::new(InMemory::new()), Duration::from_millis(10))), requests)
}

#[tokio::test(start_paused = true)]
async fn only_so_many_requests_run_at_once() {
    let store = slow(3);
    let start = Instant::now();
    let puts = (0..9).map(|n| {
        let (store, key) = (&store, Path::from(format!("k{n}")));
        async move { store.put(&key, "x".into()).await.unwrap() }
    });
    join_all(puts).await;
    assert_eq!(start.elapsed(), Duration::from_millis(30));
}

#[tokio::test(start_paused = true)]
async fn a_body_holds_its_place_until_it_is_read_or_dropped() {
    let store = slow(1);
    let key = Path::from("k");
    store.put(&key, "x".into()).await.unwrap();
    let body = store.get(&key).await.unwrap();
    assert!(timeout(Duration::from_secs(9), store.head(&key)).await.is_err());
    drop(body);
    let body = store.get(&key).await.unwrap();
    body.bytes().await.unwrap();
    timeout(Duration::from_secs(9), store.head(&key)).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_listing_leaves_room_for_requests_about_its_entries() {
    let store = slow(1);
    for n in 0..3 {
        store.put(&Path::from(format!("k{n}")), "x".into()).await.unwrap();
    }
    let sizes = store.list(None).and_then(|meta| {
        let store = &store;
        async move { Ok(store.head(&meta.location).await?.size) }
    });
    let sizes: Vec<u64> = timeout(Duration::from_secs(9), sizes.try_collect()).await.unwrap().unwrap();
    assert_eq!(sizes, [1, 1, 1]);
}
