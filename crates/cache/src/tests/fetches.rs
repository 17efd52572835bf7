//! How many GETs are made, by whom, and what happens when someone goes away.

use std::sync::Arc;
use std::time::Duration;

use super::support::{Store, checked, payload, source};
use crate::{Cache, Error, Object, Options, Piece};

const LEN: usize = 64 << 10;

fn open(store: &Arc<Store>, memory_bytes_max: u64) -> Arc<Cache> {
    Cache::open(source(store), Options::new(memory_bytes_max)).unwrap()
}

async fn read_all(cache: &Arc<Cache>, object: &Object, pieces: &[Piece]) {
    let decoded = cache.read(object, pieces, checked()).await.unwrap();
    for (index, bytes) in decoded.iter().enumerate() {
        assert!(bytes == &payload(object.id, index, LEN), "piece {index} is wrong");
    }
    assert_eq!(decoded.len(), pieces.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adjoining_pieces_are_one_get_and_then_none() {
    let store = Store::new();
    let (object, pieces) = store.object(1, 20, LEN, 1000).await;
    let cache = open(&store, 64 << 20);
    read_all(&cache, &object, &pieces).await;
    assert_eq!(*store.gets.lock(), vec![0..pieces[19].end()]);
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 1);
    let usage = cache.usage();
    assert_eq!((usage.hits, usage.misses, usage.fetched_bytes), (20, 20, pieces[19].end()));
}

#[tokio::test]
async fn distant_pieces_and_long_runs_are_separate_gets() {
    let store = Store::new();
    let (object, pieces) = store.object(1, 4, LEN, 257 << 10).await;
    read_all(&open(&store, 64 << 20), &object, &pieces).await;
    assert_eq!(store.gets(), 4, "gaps above gap_bytes_max");

    let (object, pieces) = store.object(2, 10, LEN, 0).await;
    let options = Options { fetch_bytes_max: 3 * (LEN as u64 + 8), ..Options::new(64 << 20) };
    read_all(&Cache::open(source(&store), options).unwrap(), &object, &pieces).await;
    assert_eq!(store.gets(), 4 + 4, "ten pieces, at most three to a GET");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_readers_share_one_fetch() {
    let store = Store::gated();
    let (object, pieces) = store.object(1, 4, LEN, 0).await;
    let cache = open(&store, 64 << 20);
    cache.prefetch(object.clone(), pieces.clone(), checked());
    let readers: Vec<_> = (0..32)
        .map(|_| {
            let (cache, object, pieces) = (Arc::clone(&cache), object.clone(), pieces.clone());
            tokio::spawn(async move { read_all(&cache, &object, &pieces).await })
        })
        .collect();
    store.wait_for_gets(1).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    store.gate.add_permits(100);
    for reader in readers {
        reader.await.unwrap();
    }
    assert_eq!(store.gets(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_goes_away_takes_nothing_from_others() {
    let store = Store::gated();
    let (object, pieces) = store.object(1, 4, LEN, 0).await;
    let cache = open(&store, 64 << 20);
    let first = tokio::spawn({
        let (cache, object, pieces) = (Arc::clone(&cache), object.clone(), pieces.clone());
        async move { read_all(&cache, &object, &pieces).await }
    });
    store.wait_for_gets(1).await;
    let second = tokio::spawn({
        let (cache, object, pieces) = (Arc::clone(&cache), object.clone(), pieces.clone());
        async move { read_all(&cache, &object, &pieces).await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    store.gate.add_permits(100);
    second.await.unwrap();
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 1);
    assert_eq!(cache.fetcher_in_flight().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prefetch_is_dropped_when_too_much_is_under_way() {
    let store = Store::gated();
    let (object, pieces) = store.object(1, 64, LEN, 0).await;
    // Three sixteenths of 4 MiB are for prefetching: five pieces of 128 KiB, stored and decoded.
    let cache = open(&store, 4 << 20);
    for _ in 0..10 {
        cache.prefetch(object.clone(), pieces.clone(), checked());
    }
    store.wait_for_gets(1).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let held = pieces.iter().take_while(|piece| cache.holds(object.id, piece.offset)).count();
    assert_eq!((held, cache.flights_under_way()), (5, 5));
    store.gate.add_permits(1000);
    read_all(&cache, &object, &pieces).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stored_as_it_is_takes_memory_once() {
    let store = Store::gated();
    let (object, mut pieces) = store.object(1, 64, LEN, 0).await;
    pieces.iter_mut().for_each(|piece| piece.weight = piece.len);
    let cache = open(&store, 4 << 20);
    cache.prefetch(object.clone(), pieces.clone(), checked());
    assert_eq!(cache.flights_under_way(), 11);
    store.gate.add_permits(1000);
    read_all(&cache, &object, &pieces).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_starved_fetch_is_made_of_smaller_ones_and_memory_stays_below_the_ceiling() {
    let store = Store::new();
    let (object, pieces) = store.object(1, 64, LEN, 0).await;
    let ceiling = 2 << 20;
    let cache = open(&store, ceiling);
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let (cache, object, pieces) = (Arc::clone(&cache), object.clone(), pieces.clone());
            tokio::spawn(async move { read_all(&cache, &object, &pieces).await })
        })
        .collect();
    while !readers.iter().all(tokio::task::JoinHandle::is_finished) {
        assert!(cache.usage().memory_bytes <= ceiling, "{:?}", cache.usage());
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(store.gets() > 8, "512 KiB for fetches are four pieces");
    assert!(cache.usage().evictions > 0);
}

#[tokio::test]
async fn a_piece_larger_than_the_ceiling_is_read_all_the_same() {
    let store = Store::new();
    let (object, pieces) = store.object(1, 3, LEN, 0).await;
    read_all(&open(&store, 10_000), &object, &pieces).await;
}

#[tokio::test]
async fn a_decoder_that_panics_leaves_nothing_stuck() {
    struct Panics;
    impl crate::Decode for Panics {
        fn decode(&self, _: usize, _: bytes::Bytes) -> Result<bytes::Bytes, String> {
            panic!("as the test wants")
        }
    }
    let store = Store::new();
    let (object, pieces) = store.object(1, 3, LEN, 0).await;
    let cache = open(&store, 64 << 20);
    let error = cache.read(&object, &pieces, Arc::new(Panics)).await.unwrap_err();
    assert!(matches!(error, Error::Interrupted));
    assert_eq!(cache.fetcher_in_flight().await, 0);
    assert_eq!(cache.flights_under_way(), 0);
    read_all(&cache, &object, &pieces).await;
}

#[tokio::test]
async fn what_was_inserted_is_read_and_what_is_forgotten_is_not() {
    let store = Store::new();
    let (object, pieces) = store.object(1, 3, LEN, 0).await;
    let cache = open(&store, 64 << 20);
    for (index, piece) in pieces.iter().enumerate() {
        cache.insert(object.id, piece.offset, payload(1, index, LEN).into());
    }
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 0);
    cache.forget_object(2);
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 0);
    cache.forget_object(1);
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 1);
}
