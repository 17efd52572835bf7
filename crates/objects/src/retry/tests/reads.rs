//! Reads and listings that break off.

use super::Bench;
use super::careless::Careless;
use crate::retry::get::unchanged;
use crate::{ConnectOptions, Connected, FaultPlan, Injection, Odds, RetryPolicy, Verb};
use chrono::DateTime;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Longer than what is read before it is handed out.
const LONG: usize = 9 << 20;

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 253) as u8).collect()
}

#[tokio::test(start_paused = true)]
async fn cut_bodies_are_completed() {
    for length in [1000, LONG] {
        for fault in [Injection::Cut, Injection::CutSilently, Injection::FailBefore, Injection::Hang] {
            let bench = Bench::new(RetryPolicy::default());
            let (key, bytes) = (Path::from("k"), pattern(length));
            bench.bare.put(&key, bytes.clone().into()).await.unwrap();
            // The second attempt is cut, too.
            bench.plan.next(Verb::Get, "k", fault);
            bench.plan.next(Verb::Get, "k", fault);
            let found = bench.connected.store.get(&key).await.unwrap().bytes().await.unwrap();
            assert!(found == bytes, "{length} {fault:?}");
            bench.plan.next(Verb::Get, "k", fault);
            let part = bench.connected.store.get_range(&key, 10..500).await.unwrap();
            assert!(part == bytes[10..500], "{length} {fault:?}");
            bench.plan.next(Verb::Get, "k", fault);
            let parts = bench.connected.store.get_ranges(&key, &[0..10, 500..900]).await.unwrap();
            assert!(parts[0] == bytes[..10] && parts[1] == bytes[500..900], "{length} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_body_leaves_its_place_to_the_request_for_its_rest() {
    let plan = FaultPlan::new(7);
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let connected = Connected::over(plan.wrap(store), &ConnectOptions { requests_max: 1, ..ConnectOptions::default() });
    let (key, bytes) = (Path::from("k"), pattern(LONG));
    connected.store.put(&key, bytes.clone().into()).await.unwrap();
    plan.next(Verb::Get, "k", Injection::Cut);
    let read = async { connected.store.get(&key).await.unwrap().bytes().await.unwrap() };
    let found = timeout(Duration::from_secs(600), read).await.expect("the rest waits for the place of the beginning");
    assert!(found == bytes);
}

/// To name a version takes a right of its own (`s3:GetObjectVersion`), which who may read may lack.
#[test]
fn the_rest_of_a_body_names_a_version_only_if_its_reader_did_or_there_is_no_tag() {
    let found = |e_tag: Option<&str>| ObjectMeta {
        location: Path::from("k"),
        last_modified: DateTime::default(),
        size: 1,
        e_tag: e_tag.map(str::to_owned),
        version: Some("v1".to_owned()),
    };
    let asked = |version: Option<&str>| GetOptions { version: version.map(str::to_owned), ..GetOptions::default() };
    for (version, tag, named) in
        [(None, Some("e"), None), (Some("v1"), Some("e"), Some("v1")), (None, None, Some("v1"))]
    {
        let rest = unchanged(&asked(version), &found(tag));
        assert_eq!((rest.version.as_deref(), rest.if_match.as_deref()), (named, tag));
    }
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_body_never_comes_from_another_object() {
    let stores: [Arc<dyn ObjectStore>; 2] = [Arc::new(InMemory::new()), Arc::new(Careless::default())];
    for store in stores {
        let bench = Bench::over(store, RetryPolicy::default());
        let key = Path::from("k");
        bench.bare.put(&key, vec![1; LONG].into()).await.unwrap();
        bench.plan.next(Verb::Get, "k", Injection::Cut);
        let mut body = bench.connected.store.get(&key).await.unwrap().into_stream();
        let first = body.try_next().await.unwrap().unwrap();
        assert_eq!(first.len(), LONG / 2);
        bench.bare.put(&key, vec![2; LONG].into()).await.unwrap();
        let rest = body.try_next().await.map(|rest| rest.map(|rest| rest.len()));
        assert!(matches!(rest, Err(Error::Precondition { .. })), "{rest:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn listings_go_on_where_they_broke_off() {
    let bench = Bench::new(RetryPolicy::default());
    let mut keys: Vec<String> = (0..50).map(|n| format!("p/{n}")).collect();
    keys.sort();
    for key in &keys {
        bench.bare.put(&Path::from(key.as_str()), "x".into()).await.unwrap();
    }
    // A fault "after" breaks a listing off behind its first entry.
    bench.plan.set_for(Verb::List, Odds { fail_before: 0.05, fail_after: 0.9, ..Odds::default() });
    for after in [None, Some("p/2")] {
        let prefix = Path::from("p");
        let listed = match after {
            None => bench.connected.store.list(Some(&prefix)),
            Some(after) => bench.connected.store.list_with_offset(Some(&prefix), &Path::from(after)),
        };
        let listed: Vec<String> = listed.map_ok(|meta| meta.location.to_string()).try_collect().await.unwrap();
        let expected: Vec<_> =
            keys.iter().filter(|key| after.is_none_or(|after| key.as_str() > after)).cloned().collect();
        assert_eq!(listed, expected);
    }
    assert!(bench.plan.counts().after > 10);
}

#[tokio::test(start_paused = true)]
async fn a_range_behind_the_end_is_an_error_at_once() {
    let bench = Bench::new(RetryPolicy::default());
    let key = Path::from("k");
    bench.bare.put(&key, "short".into()).await.unwrap();
    assert!(bench.connected.store.get_range(&key, 10..20).await.is_err());
    assert_eq!(bench.connected.meter.counts().of(Verb::Get), 1);
}
