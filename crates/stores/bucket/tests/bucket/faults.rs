//! What is not known is an error, and never an empty directory.

use crate::world::{World, doubting, patient, scan};
use stoa_bucket::Options;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Cookie, Error, Ino, Vfs};

#[tokio::test]
async fn a_listing_that_fails_is_an_error() {
    for status in [404, 500, 503] {
        let world = World::new(&doubting()).await;
        world.put_all(&["a", "b"]).await;
        world.server.faults.each("GET", "list-type=2", S3Fault::Status(status));
        let listed = world.files.readdir(Ino::ROOT, Cookie::START, 10, false).await;
        assert!(matches!(listed, Err(Error::Io(_) | Error::NotFound)), "{status}: {listed:?}");
        assert!(world.stat("none").await.is_err());
        world.server.faults.end_each();
        assert_eq!(world.ls("").await, ["a", "b"]);
    }
}

#[tokio::test]
async fn a_bucket_that_is_away_is_not_empty() {
    let world = World::new(&doubting()).await;
    let gone = world.server.bucket(
        "gone",
        &stoa_objects::ConnectOptions {
            retry: stoa_objects::RetryPolicy::bounded(std::time::Duration::from_millis(50)),
            ..Default::default()
        },
    );
    let files = stoa_bucket::Bucket::open(gone.unwrap(), "", &doubting()).unwrap();
    let listed = files.readdir(Ino::ROOT, Cookie::START, 10, false).await;
    assert!(matches!(&listed, Err(Error::Io(text)) if text.contains("bucket")), "{listed:?}");
}

#[tokio::test]
async fn a_page_that_fails_once_is_asked_for_again() {
    let world = World::new(&Options { page_keys_max: Some(2), ..patient() }).await;
    world.put_all(&["a", "b", "c", "d", "e"]).await;
    for fault in [S3Fault::Status(503), S3Fault::Drop, S3Fault::CutBody, S3Fault::OkWithError] {
        world.server.faults.next("GET", "list-type=2", fault);
    }
    assert_eq!(scan(world.files.as_ref(), Ino::ROOT, 1, true).await.len(), 5);
    assert_eq!(world.server.faults.pending(), 0);
}

#[tokio::test]
async fn a_page_that_fails_later_ends_the_listing_with_an_error() {
    let world = World::new(&Options { page_keys_max: Some(2), ..patient() }).await;
    world.put_all(&["a", "b", "c", "d"]).await;
    let first = world.files.readdir(Ino::ROOT, Cookie::START, 10, false).await.unwrap();
    assert!(first.entries.len() < 4 && !first.end);
    world.server.faults.each("GET", "list-type=2", S3Fault::Status(403));
    let last = first.entries.last().unwrap().cookie;
    assert_eq!(world.files.readdir(Ino::ROOT, last, 10, false).await, Err(Error::Denied));
}
