//! A file whose records are damaged: who writes to it hears of it, and nobody else.

use crate::world::{self, File, LARGE, Store, find, make, name};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;
use stoa_meta::record::RecordKey;
use stoa_meta::testing;
use stoa_vfs::{Caller, Error, Ino, Make, Node, OpenFlags, Vfs, WriteFlags};
use stoa_volume::Volume;

/// What needs a segment.
const DATA: &[u8] = &[7; LARGE];

async fn open(store: &Store) -> Arc<Volume> {
    world::open(store, world::options()).await
}

async fn write(volume: &Volume, (ino, handle): File, data: &'static [u8]) -> Result<(), Error> {
    volume.write(ino, handle, 0, Bytes::from_static(data), WriteFlags::default()).await
}

/// A volume, closed, with a file whose extents can't be read.
async fn damaged() -> Store {
    let store = world::formatted().await;
    let volume = open(&store).await;
    let (ino, handle) = make(&volume, "damaged").await;
    write(&volume, (ino, handle), DATA).await.unwrap();
    volume.close().await.unwrap();
    let records = testing::records(Arc::clone(&store)).await.unwrap();
    let of_file = |key: &RecordKey| matches!(key, RecordKey::Extent(of, _) if *of == ino);
    let extents: Vec<_> = records.keys().filter_map(|key| RecordKey::decode(key).ok()).filter(of_file).collect();
    assert!(!extents.is_empty());
    let no_extent = || Some(Bytes::from_static(&[0xff]));
    testing::plant(Arc::clone(&store), extents.into_iter().map(|key| (key, no_extent())).collect()).await.unwrap();
    store
}

async fn expect_only_this_fails(data: &'static [u8]) {
    let store = damaged().await;
    let volume = open(&store).await;
    let (ino, handle) = find(&volume, "damaged").await;
    write(&volume, (ino, handle), data).await.unwrap();
    let synced = volume.fsync(ino).await;
    assert!(matches!(synced, Err(Error::Corrupt(_))), "{synced:?}");

    let (other, others) = make(&volume, "other").await;
    write(&volume, (other, others), DATA).await.unwrap();
    volume.fsync(other).await.unwrap();
    volume.sync().await.unwrap();

    // What was written is gone: nothing that is done to the file while it is open says otherwise.
    let again = [
        write(&volume, (ino, handle), data).await,
        volume.flush(ino, handle).await,
        volume.fsync(ino).await,
        volume.read(ino, handle, 0, 10).await.map(drop),
    ];
    assert!(again.iter().all(|done| matches!(done, Err(Error::Corrupt(_)))), "{again:?}");
    volume.close().await.unwrap();

    let volume = open(&store).await;
    let other = find(&volume, "other").await;
    assert!(world::content(&volume, other).await == DATA);
    volume.close().await.unwrap();
}

#[tokio::test]
async fn a_small_write_to_a_damaged_file_fails_and_others_go_on() {
    expect_only_this_fails(b"small").await;
}

#[tokio::test]
async fn a_large_write_to_a_damaged_file_fails_and_others_go_on() {
    expect_only_this_fails(DATA).await;
}

/// Nobody waits for it: the flusher finds out, and goes on with the others.
#[tokio::test]
async fn what_is_written_behind_to_a_damaged_file_stops_nobody() {
    let store = damaged().await;
    let volume = open(&store).await;
    let (ino, handle) = find(&volume, "damaged").await;
    write(&volume, (ino, handle), DATA).await.unwrap();
    let (other, others) = make(&volume, "other").await;
    write(&volume, (other, others), DATA).await.unwrap();
    let synced = volume.sync().await;
    assert!(matches!(synced, Err(Error::Corrupt(_))), "{synced:?}");
    volume.release(ino, handle).await;
    volume.fsync(other).await.unwrap();
    volume.close().await.unwrap();
}

/// Enough links that the records of a file's extents and all others lie far apart in the table.
const LINKS: usize = 500;

async fn take_away(store: &Store, prefix: &str) -> Vec<(Path, Bytes)> {
    let listed: Vec<_> = store.list(Some(&Path::from(prefix))).try_collect().await.unwrap();
    let mut taken = Vec::new();
    for object in listed {
        let content = store.get(&object.location).await.unwrap().bytes().await.unwrap();
        store.delete(&object.location).await.unwrap();
        taken.push((object.location, content));
    }
    taken
}

/// As when the disk that the store is on is away for a while.
#[tokio::test]
async fn what_is_written_waits_for_records_that_are_missing() {
    let store = world::formatted().await;
    let volume = open(&store).await;
    let target = Bytes::from(vec![b'x'; 4000]);
    for n in 0..LINKS {
        let make = Make { node: Node::Symlink(target.clone()), mode: 0o777, umask: 0 };
        volume.make(Caller::ROOT, Ino::ROOT, &name(&format!("link{n}")), &make).await.unwrap();
    }
    let (ino, handle) = make(&volume, "file").await;
    write(&volume, (ino, handle), DATA).await.unwrap();
    volume.close().await.unwrap();

    let volume = open(&store).await;
    // Without a lookup, which would read the records around it.
    let handle = volume.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap();
    let taken = take_away(&store, "meta/compacted").await;
    assert!(!taken.is_empty());
    write(&volume, (ino, handle), b"new").await.unwrap();
    let refused = tokio::time::timeout(Duration::from_secs(20), volume.fsync(ino)).await.unwrap();
    assert!(matches!(&refused, Err(Error::Io(why)) if why.contains("is missing")), "{refused:?}");
    for (path, content) in taken {
        store.put(&path, content.into()).await.unwrap();
    }
    let synced = async {
        while volume.fsync(ino).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), synced).await.unwrap();
    volume.close().await.unwrap();

    let volume = open(&store).await;
    let (ino, handle) = find(&volume, "file").await;
    assert_eq!(volume.read(ino, handle, 0, 5).await.unwrap().concat(), b"new\x07\x07");
    volume.close().await.unwrap();
}
