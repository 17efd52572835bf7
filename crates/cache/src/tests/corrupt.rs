//! What readers are told when the store fails or lies.

use std::sync::Arc;

use super::support::{Fault, Store, checked, payload, source};
use crate::{Cache, Error, Options};

const LEN: usize = 50_000;

async fn read_with(faults: &[Fault]) -> (Arc<Store>, Result<usize, Error>, Result<usize, Error>) {
    let store = Store::new();
    let (object, pieces) = store.object(7, 3, LEN, 0).await;
    let cache = Cache::open(source(&store), Options::new(16 << 20)).unwrap();
    // The store takes faults from the end.
    store.faults.lock().extend(faults.iter().rev());
    let mut results = Vec::new();
    for _ in 0..2 {
        results.push(cache.read(&object, &pieces, checked()).await.map(|decoded| {
            let right = |(index, bytes): (usize, &bytes::Bytes)| bytes == &payload(7, index, LEN);
            assert!(decoded.iter().enumerate().all(right));
            decoded.len()
        }));
    }
    let second = results.pop().unwrap();
    (store, results.pop().unwrap(), second)
}

#[tokio::test]
async fn a_flipped_bit_is_fetched_again() {
    let (store, first, _) = read_with(&[Fault::FlipFirstBit]).await;
    assert_eq!(first.unwrap(), 3);
    assert_eq!(*store.gets.lock(), vec![0..150_024, 0..50_008], "only the corrupt piece is fetched again");
}

#[tokio::test]
async fn bytes_that_stay_corrupt_are_reported_and_not_remembered() {
    let (_, first, second) = read_with(&[Fault::FlipFirstBit, Fault::FlipFirstBit]).await;
    let error = first.unwrap_err();
    assert!(matches!(&error, Error::Corrupt { offset: 0, .. }), "{error}");
    assert_eq!(error.to_string(), "data/7: corrupt at byte 0: checksum mismatch");
    assert_eq!(second.unwrap(), 3);
}

#[tokio::test]
async fn a_short_answer_is_an_error() {
    let (_, first, second) = read_with(&[Fault::CutShort]).await;
    let error = first.unwrap_err();
    assert!(matches!(error, Error::Short { wanted: 150_024, got: 150_023, .. }), "{error}");
    assert_eq!(second.unwrap(), 3);
}

#[tokio::test]
async fn a_refusal_is_passed_on_and_not_remembered() {
    let (_, first, second) = read_with(&[Fault::Refuse]).await;
    assert!(matches!(first.unwrap_err(), Error::Store(_)));
    assert_eq!(second.unwrap(), 3);
}

#[tokio::test]
async fn a_truncated_object_is_an_error() {
    let store = Store::new();
    let (object, mut pieces) = store.object(7, 3, LEN, 0).await;
    pieces[2].len += 1;
    let cache = Cache::open(source(&store), Options::new(16 << 20)).unwrap();
    let error = cache.read(&object, &pieces, checked()).await.unwrap_err();
    assert!(matches!(error, Error::Short { wanted: 150_025, got: 150_024, .. }), "{error}");
}
