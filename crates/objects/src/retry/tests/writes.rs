//! Puts, copies, uploads and deletes whose answers fail.

use super::Bench;
use crate::{Directory, Injection, Odds, RetryPolicy, Verb};
use bytes::Bytes;
use futures::future::join_all;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutResult, RenameOptions, UpdateVersion};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

async fn put(
    store: &dyn ObjectStore,
    key: &str,
    bytes: &'static str,
    mode: PutMode,
) -> object_store::Result<PutResult> {
    store.put_opts(&Path::from(key), bytes.into(), PutOptions::from(mode)).await
}

async fn read(store: &dyn ObjectStore, key: &str) -> Bytes {
    store.get(&Path::from(key)).await.unwrap().bytes().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_create_whose_answer_was_lost_has_succeeded() {
    let bench = Bench::new(RetryPolicy::default());
    for key in ["full", "empty"] {
        bench.plan.next(Verb::Put, key, Injection::FailAfter);
        let bytes = if key == "empty" { "" } else { "bytes" };
        let put = put(bench.store(), key, bytes, PutMode::Create).await.unwrap();
        let head = bench.bare.head(&Path::from(key)).await.unwrap();
        assert_eq!(put.e_tag, head.e_tag, "{key}: the tag is that of the object");
    }
    assert_eq!(bench.plan.counts().after, 2);
}

#[tokio::test(start_paused = true)]
async fn a_create_that_someone_else_won_has_not_succeeded() {
    for (ours, theirs) in [("ours", "theirs"), ("same", "same"), ("", "")] {
        let bench = Bench::new(RetryPolicy::default());
        put(bench.store(), "k", theirs, PutMode::Create).await.unwrap();
        // Ours fails first in a way that leaves open whether it took effect, so the refusal has to be looked into.
        bench.plan.next(Verb::Put, "k", Injection::FailBefore);
        let answer = put(bench.store(), "k", ours, PutMode::Create).await;
        assert!(matches!(answer, Err(Error::AlreadyExists { .. })), "{ours:?} {theirs:?}: {answer:?}");
    }
}

#[tokio::test]
async fn without_metadata_the_bytes_decide_and_empty_objects_belong_to_nobody() {
    let root = tempfile::tempdir().unwrap();
    let directory = Arc::new(Directory::open(root.path()).unwrap());
    let bench = Bench::over(directory, RetryPolicy::default());
    bench.plan.next(Verb::Put, "full", Injection::FailAfter);
    // The first attempt carries metadata, which is refused; the second meets the fault.
    bench.plan.next(Verb::Put, "full", Injection::FailAfter);
    put(bench.store(), "full", "bytes", PutMode::Create).await.unwrap();
    assert_eq!(read(bench.bare.as_ref(), "full").await, "bytes");
    bench.plan.next(Verb::Put, "empty", Injection::FailAfter);
    let answer = put(bench.store(), "empty", "", PutMode::Create).await;
    assert!(matches!(answer, Err(Error::AlreadyExists { .. })), "rather no winner than two: {answer:?}");
}

#[tokio::test(start_paused = true)]
async fn an_update_whose_answer_was_lost_has_succeeded() {
    let bench = Bench::new(RetryPolicy::default());
    let first = put(bench.store(), "k", "first", PutMode::Create).await.unwrap();
    let version = PutMode::Update(UpdateVersion::from(first));
    bench.plan.next(Verb::Put, "k", Injection::FailAfter);
    put(bench.store(), "k", "second", version.clone()).await.unwrap();
    assert_eq!(read(bench.store(), "k").await, "second");
    bench.plan.next(Verb::Put, "k", Injection::FailBefore);
    let stale = put(bench.store(), "k", "third", version).await;
    assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
}

#[tokio::test(start_paused = true)]
async fn one_creator_wins_however_many_answers_are_lost() {
    let bench = Bench::new(RetryPolicy::default());
    let odds = Odds { fail_before: 0.3, fail_after: 0.3, delay_max: Duration::from_millis(100), ..Odds::default() };
    bench.plan.set(odds);
    for round in 0..100 {
        let key = format!("race/{round}");
        let puts = join_all((0..4).map(|_| put(bench.store(), &key, "", PutMode::Create))).await;
        let won = puts.iter().filter(|put| put.is_ok()).count();
        assert_eq!(won, 1, "{puts:?}");
    }
    assert!(bench.plan.counts().after > 50, "{:?}", bench.plan.counts());
}

#[tokio::test(start_paused = true)]
async fn plain_answers_come_at_once() {
    let bench = Bench::new(RetryPolicy::default());
    put(bench.store(), "k", "x", PutMode::Create).await.unwrap();
    let start = Instant::now();
    assert!(matches!(bench.store().get(&Path::from("none")).await, Err(Error::NotFound { .. })));
    assert!(matches!(put(bench.store(), "k", "y", PutMode::Create).await, Err(Error::AlreadyExists { .. })));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(bench.connected.health.report().failures, 0, "an answer is not a failure");
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_waited_out_and_recorded() {
    let bench = Bench::new(RetryPolicy::default());
    bench.plan.outage(true);
    let plan = bench.plan.clone();
    let health = bench.connected.health.clone();
    let switch = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(600)).await;
        let during = health.report();
        plan.outage(false);
        during
    });
    let start = Instant::now();
    put(bench.store(), "k", "x", PutMode::Create).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(600) && start.elapsed() < Duration::from_secs(605));
    let during = switch.await.unwrap();
    assert_eq!(during.waiting, 1);
    assert!(during.failures_in_row > 100, "{during:?}");
    assert!(during.last_failure.unwrap().message.contains("put k"));
    let after = bench.connected.health.report();
    assert_eq!((after.failures_in_row, after.waiting), (0, 0));
    assert!(after.recovered.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_bounded_store_gives_up_in_time() {
    let bench = Bench::new(RetryPolicy::default());
    bench.plan.outage(true);
    let start = Instant::now();
    let bounded = bench.connected.patient_for(Duration::from_secs(10));
    assert!(bounded.put(&Path::from("k"), "x".into()).await.is_err());
    assert!(start.elapsed() <= Duration::from_secs(10), "{:?}", start.elapsed());
    let error = bench.connected.check(Duration::from_secs(5)).await.unwrap_err();
    assert!(matches!(error, crate::Error::Unavailable { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_ends_the_retries() {
    let bench = Bench::new(RetryPolicy::default());
    bench.plan.outage(true);
    let put = put(bench.store(), "k", "x", PutMode::Overwrite);
    assert!(tokio::time::timeout(Duration::from_secs(30), put).await.is_err());
    let requests = bench.connected.meter.counts().total();
    assert_eq!(bench.connected.health.report().waiting, 0);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(bench.connected.meter.counts().total(), requests);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_attempt_is_given_up_and_repeated() {
    let bench = Bench::new(RetryPolicy::default());
    bench.plan.next(Verb::Put, "k", Injection::Hang);
    put(bench.store(), "k", "x", PutMode::Create).await.unwrap();
    bench.plan.next(Verb::List, "", Injection::Hang);
    assert_eq!(bench.store().list(None).count().await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_killed_store_takes_nothing_and_is_not_retried() {
    let bench = Bench::new(RetryPolicy::default());
    bench.plan.next(Verb::Put, "late", Injection::Delay(Duration::from_secs(5)));
    let (bare, plan) = (Arc::clone(&bench.bare), bench.plan.clone());
    let late = tokio::spawn({
        let store = Arc::clone(&bench.connected.store);
        async move { store.put(&Path::from("late"), "x".into()).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    plan.kill();
    assert!(late.await.unwrap().is_err(), "also what was under way fails");
    assert!(put(bench.store(), "k", "x", PutMode::Overwrite).await.is_err());
    plan.calm();
    assert!(put(bench.store(), "k", "x", PutMode::Overwrite).await.is_err(), "killed is killed");
    assert_eq!(bare.list(None).count().await, 0);
    plan.kill_silently();
    let hanging = tokio::time::timeout(Duration::from_secs(20), put(bench.store(), "k", "x", PutMode::Overwrite)).await;
    assert!(hanging.is_err());
}

#[tokio::test(start_paused = true)]
async fn uploads_deletes_and_renames_survive_lost_answers() {
    let bench = Bench::new(RetryPolicy::default());
    let (big, moved) = (Path::from("big"), Path::from("moved"));
    bench.plan.next(Verb::Multipart, "big", Injection::FailBefore);
    let mut upload = bench.store().put_multipart(&big).await.unwrap();
    upload.put_part("one ".into()).await.unwrap();
    upload.put_part("two".into()).await.unwrap();
    bench.plan.next(Verb::Multipart, "big", Injection::FailBefore);
    bench.plan.next(Verb::Multipart, "big", Injection::FailAfter);
    upload.complete().await.unwrap();
    assert_eq!(read(bench.store(), "big").await, "one two");

    bench.plan.next(Verb::Copy, "moved", Injection::FailAfter);
    bench.store().rename_opts(&big, &moved, RenameOptions::default()).await.unwrap();
    assert_eq!(read(bench.store(), "moved").await, "one two");

    for n in 0..30 {
        bench.bare.put(&Path::from(format!("d/{n}")), "x".into()).await.unwrap();
    }
    bench.plan.set_for(Verb::Delete, Odds { fail_before: 0.3, fail_after: 0.3, ..Odds::default() });
    let keys: Vec<_> =
        bench.bare.list(Some(&Path::from("d"))).map_ok(|meta| meta.location).try_collect().await.unwrap();
    let stream = futures::stream::iter(keys.clone()).map(Ok).boxed();
    let deleted: Vec<Path> = bench.store().delete_stream(stream).try_collect().await.unwrap();
    assert_eq!(deleted, keys);
    assert_eq!(bench.bare.list(Some(&Path::from("d"))).count().await, 0);
}
