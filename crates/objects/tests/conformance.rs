//! Every provider passes the same suite, bare and with the layers around it.

use object_store::memory::InMemory;
use std::sync::Arc;
use stoa_objects::testing::{S3Server, conformance};
use stoa_objects::{ConnectOptions, Connected, Directory, Location};

#[tokio::test(flavor = "multi_thread")]
async fn memory() {
    conformance::run(&InMemory::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_with_layers() {
    let connected = Connected::over(Arc::new(InMemory::new()), &ConnectOptions::default());
    conformance::run(connected.store.as_ref()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn directory() {
    let root = tempfile::tempdir().unwrap();
    conformance::run(&Directory::open(root.path().join("made")).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn directory_with_layers() {
    let root = tempfile::tempdir().unwrap();
    let connected = Connected::over(Arc::new(Directory::open(root.path()).unwrap()), &ConnectOptions::default());
    conformance::run(connected.store.as_ref()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s3() {
    let server = S3Server::start("bucket").await.unwrap();
    for location in ["s3://bucket", "s3://bucket/some/prefix"] {
        let location = Location::parse(location).unwrap();
        let connected = server.connect(&location, &ConnectOptions::default()).unwrap();
        connected.check(std::time::Duration::from_secs(5)).await.unwrap();
        conformance::run(connected.store.as_ref()).await;
    }
    assert_eq!(server.uploads_open("bucket"), 0);
}
