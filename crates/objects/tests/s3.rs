//! The S3 provider against the S3 server of this crate: what goes wrong on the way, and what is said about it.

#![allow(clippy::unwrap_used, reason = "the functions that only prepare a test, too")]

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode};
use std::time::Duration;
use stoa_objects::testing::{S3Fault, S3Server};
use stoa_objects::{ConnectOptions, Connected, Error, Location, probe};

const PATIENCE: Duration = Duration::from_secs(1);

fn location() -> Location {
    Location::parse("s3://bucket/prefix").unwrap()
}

async fn server() -> (S3Server, Connected) {
    let server = S3Server::start("bucket").await.unwrap();
    let connected = server.connect(&location(), &ConnectOptions::default()).unwrap();
    (server, connected)
}

#[tokio::test]
async fn answers_that_fail_are_repeated_whatever_had_happened() {
    let (server, connected) = server().await;
    let store = &connected.store;
    let faults = [
        S3Fault::Status(503),
        S3Fault::Status(500),
        S3Fault::Status(429),
        S3Fault::StatusAfter(500),
        S3Fault::Drop,
        S3Fault::DropAfter,
    ];
    for (n, fault) in faults.into_iter().enumerate() {
        let key = Path::from(format!("k{n}"));
        server.faults.next("PUT", key.to_string(), fault);
        let created = store.put_opts(&key, "first".into(), PutMode::Create.into()).await;
        let created = created.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        server.faults.next("PUT", key.to_string(), fault);
        let updated = store.put_opts(&key, "second".into(), PutMode::Update(created.into()).into()).await;
        updated.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        server.faults.next("GET", key.to_string(), fault);
        assert_eq!(store.get(&key).await.unwrap().bytes().await.unwrap(), "second", "{fault:?}");
        server.faults.next("GET", "list-type", fault);
        assert_eq!(store.list(None).try_collect::<Vec<_>>().await.unwrap().len(), n + 1, "{fault:?}");
    }
    assert_eq!(server.faults.pending(), 0);
    assert!(connected.health.report().failures >= 24);
}

#[tokio::test]
async fn cut_bodies_are_completed() {
    let (server, connected) = server().await;
    let key = Path::from("big");
    let bytes: Vec<u8> = (0..12_000_000_u32).map(|n| (n % 239) as u8).collect();
    connected.store.put(&key, bytes.clone().into()).await.unwrap();
    server.faults.next("GET", "big", S3Fault::CutBody);
    server.faults.next("GET", "big", S3Fault::CutBody);
    assert!(connected.store.get(&key).await.unwrap().bytes().await.unwrap() == bytes);
    server.faults.next("GET", "big", S3Fault::CutBody);
    assert!(connected.store.get_range(&key, 5..70_000).await.unwrap() == bytes[5..70_000]);
    assert_eq!(server.faults.pending(), 0);
}

#[tokio::test]
async fn uploads_survive_lost_answers_and_errors_in_good_ones() {
    let (server, connected) = server().await;
    let key = Path::from("upload");
    for fault in [S3Fault::OkWithError, S3Fault::DropAfter, S3Fault::Status(503), S3Fault::StatusAfter(500)] {
        let mut upload = connected.store.put_multipart(&key).await.unwrap();
        server.faults.next("PUT", "partNumber=1", fault);
        let parts = [vec![1; 5 << 20], vec![2; 100]].map(|part| upload.put_part(part.into()));
        futures::future::try_join_all(parts).await.unwrap();
        server.faults.next("POST", "uploadId", fault);
        upload.complete().await.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(connected.store.head(&key).await.unwrap().size, (5 << 20) + 100);
        connected.store.delete(&key).await.unwrap();
    }
    assert_eq!((server.faults.pending(), server.uploads_open("bucket")), (0, 0));
}

#[tokio::test]
async fn a_completion_or_copy_answered_with_an_error_inside_is_repeated() {
    let (server, connected) = server().await;
    let (a, b) = (Path::from("a"), Path::from("b"));
    let mut upload = connected.store.put_multipart(&a).await.unwrap();
    upload.put_part("content".into()).await.unwrap();
    server.faults.next("POST", "uploadId", S3Fault::OkWithError);
    upload.complete().await.unwrap();
    assert_eq!(connected.store.get(&a).await.unwrap().bytes().await.unwrap(), "content");
    server.faults.next("PUT", "prefix/b", S3Fault::OkWithError);
    connected.store.copy(&a, &b).await.unwrap();
    assert_eq!(connected.store.get(&b).await.unwrap().bytes().await.unwrap(), "content");
    assert_eq!(server.faults.pending(), 0);
}

#[tokio::test]
async fn what_a_person_has_to_mend_is_said() {
    let (server, connected) = server().await;
    let options = ConnectOptions::default();

    let wrong = server.connect_as(&location(), &options, &server.access_key, "wr0ng").unwrap();
    let error = wrong.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::WrongCredentials { .. }), "{error:?}");
    assert_eq!(server.faults.requests(), 1, "who waits is told at once");
    assert!(!format!("{error} {error:?}").contains("wr0ng"));
    let unknown = server.connect_as(&location(), &options, "AKIAUNKNOWN", "wr0ng").unwrap();
    let error = unknown.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::WrongCredentials { .. }), "{error:?}");

    let missing = server.connect(&Location::parse("s3://missing").unwrap(), &options).unwrap();
    let error = missing.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::MissingBucket { .. }), "{error:?}");

    server.faults.every(Some(S3Fault::Status(403)));
    let error = connected.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error:?}");
    server.faults.every(Some(S3Fault::Status(301)));
    let error = connected.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::WrongRegion { .. }), "{error:?}");
    server.faults.every(Some(S3Fault::Status(501)));
    let error = connected.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    server.faults.every(Some(S3Fault::Status(503)));
    let error = connected.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    server.faults.every(None);

    let endpoint = server.endpoint.clone();
    drop(server);
    let error = connected.check(PATIENCE).await.unwrap_err();
    assert!(matches!(&error, Error::Unreachable { endpoint: named, .. } if *named == endpoint), "{error:?}");
}

#[tokio::test]
async fn plain_http_where_tls_is_expected_is_called_a_tls_problem() {
    let server = S3Server::start("bucket").await.unwrap();
    let options = ConnectOptions {
        endpoint: Some(server.endpoint.replace("http://", "https://")),
        anonymous: true,
        ..ConnectOptions::default()
    };
    let connected = stoa_objects::connect(&location(), &options).await.unwrap();
    let error = connected.check(PATIENCE).await.unwrap_err();
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    assert_eq!(connected.meter.counts().total(), 1, "who waits is told at once");
}

#[tokio::test]
async fn a_bucket_that_vanishes_for_a_moment_is_waited_for() {
    let (server, connected) = server().await;
    server.remove_bucket("bucket");
    let store = connected.store.clone();
    let put = tokio::spawn(async move { store.put(&Path::from("k"), "x".into()).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!put.is_finished());
    server.add_bucket("bucket");
    put.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_probe_passes_through_a_bad_hour() {
    let (server, connected) = server().await;
    for n in 0..8 {
        let fault = if n % 2 == 0 { S3Fault::StatusAfter(500) } else { S3Fault::Drop };
        server.faults.next("PUT", "", fault);
        server.faults.next("GET", "", fault);
    }
    probe(connected.store.as_ref()).await.unwrap();
    assert_eq!(connected.store.list(None).try_collect::<Vec<_>>().await.unwrap().len(), 0);
}
