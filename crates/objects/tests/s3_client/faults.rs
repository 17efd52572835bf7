//! The server in this process, failing in every way, at every request.

use crate::objects::{body, get, put};
use crate::server::Server;
use std::time::Duration;
use stoa_objects::Error;
use stoa_objects::s3::{Condition, CopyHeaders, Headers, List, Read, Source, Storage};
use stoa_objects::testing::S3Fault;

const FAULTS: [S3Fault; 7] = [
    S3Fault::Status(503),
    S3Fault::Status(500),
    S3Fault::Status(429),
    S3Fault::StatusAfter(500),
    S3Fault::Drop,
    S3Fault::DropAfter,
    S3Fault::OkWithError,
];

#[tokio::test]
async fn writes_whose_answers_are_lost_take_effect_once() {
    let server = Server::in_process().await;
    let (bucket, faults) = (&server.bucket, &server.here.as_ref().unwrap().faults);
    for (n, fault) in FAULTS.into_iter().enumerate() {
        let key = format!("put{n}");
        faults.next("PUT", &key, fault);
        let first = bucket.put(&key, "".into(), &Headers::default(), &Condition::IfAbsent).await;
        let first = first.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!(bucket.head(&key, None).await.unwrap().etag, Some(first.etag.clone()));
        faults.next("PUT", &key, fault);
        let update = Condition::IfMatch(first.etag);
        bucket.put(&key, "second".into(), &Headers::default(), &update).await.unwrap();
        // The same again is refused, whatever happens on the way: it was not us.
        faults.next("PUT", &key, fault);
        let lost = bucket.put(&key, "second".into(), &Headers::default(), &update).await.unwrap_err();
        assert!(matches!(lost, Error::Conflict { .. }), "{fault:?}: {lost}");

        let source = Source { key: key.clone(), ..Source::default() };
        for (m, headers) in
            [CopyHeaders::Keep(Storage::default()), CopyHeaders::Replace(Headers::default())].iter().enumerate()
        {
            let copy = format!("copy{n}-{m}");
            faults.next("PUT", &copy, fault);
            bucket.copy(&source, &copy, headers, &Condition::IfAbsent).await.unwrap();
            assert_eq!(get(bucket, &copy).await, b"second", "{fault:?}");
            faults.next("PUT", &copy, fault);
            let lost = bucket.copy(&source, &copy, headers, &Condition::IfAbsent).await.unwrap_err();
            assert!(matches!(lost, Error::Conflict { .. }), "{fault:?}: {lost}");
        }
    }
    assert_eq!(faults.pending(), 0);
}

#[tokio::test]
async fn uploads_survive_faults_at_every_step() {
    let server = Server::in_process().await;
    let (bucket, faults) = (&server.bucket, &server.here.as_ref().unwrap().faults);
    put(bucket, "source", &vec![1; 6 << 20]).await;
    let source = Source { key: "source".to_owned(), ..Source::default() };
    for (n, fault) in FAULTS.into_iter().enumerate() {
        let key = format!("upload{n}");
        faults.next("POST", "uploads", fault);
        let upload = bucket.create_upload(&key, &Headers::default()).await.unwrap();
        faults.next("PUT", "partNumber=1&", fault);
        let first = bucket.upload_part_copy(&upload, 1, &source, None).await.unwrap();
        faults.next("PUT", "partNumber=2&", fault);
        let second = bucket.upload_part(&upload, 2, "end".into()).await.unwrap();
        faults.next("POST", "uploadId", fault);
        let parts = [first, second];
        let done = bucket.complete_upload(&upload, &parts, &Condition::IfAbsent).await;
        let done = done.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        let info = bucket.head(&key, None).await.unwrap();
        assert_eq!((info.size, info.etag), ((6 << 20) + 3, Some(done.etag)), "{fault:?}");
        faults.next("DELETE", "uploadId", fault);
        bucket.abort_upload(&upload).await.unwrap();
    }
    assert_eq!(faults.pending(), 0);
}

#[tokio::test]
async fn reads_listings_and_deletes_are_repeated() {
    let server = Server::in_process().await;
    let (bucket, faults) = (&server.bucket, &server.here.as_ref().unwrap().faults);
    for fault in FAULTS.into_iter().filter(|fault| *fault != S3Fault::OkWithError) {
        let written = put(bucket, "k", b"content").await;
        faults.next("GET", "/k", fault);
        assert_eq!(get(bucket, "k").await, b"content", "{fault:?}");
        faults.next("HEAD", "/k", fault);
        assert_eq!(bucket.head("k", None).await.unwrap().size, 7, "{fault:?}");
        faults.next("GET", "list-type", fault);
        assert_eq!(bucket.list(&List::default()).await.unwrap().objects.len(), 1, "{fault:?}");
        faults.next("DELETE", "/k", fault);
        bucket.delete("k", Some(&written.etag), None).await.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        put(bucket, "k", b"content").await;
        faults.next("POST", "delete", fault);
        assert!(bucket.delete_many(&["k".to_owned()]).await.unwrap()[0].is_ok());
    }
    assert_eq!(faults.pending(), 0);
}

#[tokio::test]
async fn cut_bodies_are_completed() {
    let server = Server::in_process().await;
    let (bucket, faults) = (&server.bucket, &server.here.as_ref().unwrap().faults);
    let long: Vec<u8> = (0..5_000_000_u32).map(|n| (n % 239) as u8).collect();
    put(bucket, "long", &long).await;
    for _ in 0..3 {
        faults.next("GET", "long", S3Fault::CutBody);
    }
    assert!(get(bucket, "long").await == long);
    faults.next("GET", "list-type", S3Fault::CutBody);
    assert_eq!(bucket.list(&List::default()).await.unwrap().objects.len(), 1);
    // What was changed meanwhile is not glued together.
    faults.next("GET", "long", S3Fault::CutBody);
    let object = bucket.get("long", &Read::default()).await.unwrap();
    put(bucket, "long", &vec![0; 5_000_000]).await;
    let failed = tokio::spawn(async move { futures::TryStreamExt::try_collect::<Vec<_>>(object.body).await });
    assert!(matches!(failed.await.unwrap().unwrap_err(), Error::Conflict { .. }));
    assert_eq!(faults.pending(), 0);
}

#[tokio::test]
async fn a_bucket_that_vanishes_is_waited_for_and_never_empty() {
    let server = Server::in_process().await;
    let here = server.here.as_ref().unwrap();
    here.remove_bucket("bucket");
    let bucket = server.bucket.clone();
    let listing = tokio::spawn(async move { bucket.list(&List::default()).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!listing.is_finished());
    here.add_bucket("bucket");
    listing.await.unwrap().unwrap();
}

#[tokio::test]
async fn places_are_free_again() {
    let server = Server::in_process().await;
    let bucket = server.other("bucket", |options| options.requests_max = 1);
    put(&bucket, "k", &vec![1; 3_000_000]).await;
    let held = bucket.get("k", &Read::default()).await.unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(100), bucket.head("k", None)).await;
    assert!(waiting.is_err(), "the body holds the only place");
    assert_eq!(body(held).await.len(), 3_000_000);
    drop(bucket.get("k", &Read::default()).await.unwrap());
    bucket.head("k", None).await.unwrap();
}
