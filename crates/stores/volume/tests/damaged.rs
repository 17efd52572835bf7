//! A file whose records are damaged: who writes to it hears of it, and nobody else.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;
use stoa_meta::record::RecordKey;
use stoa_meta::testing;
use stoa_vfs::{Caller, Error, Handle, Ino, Make, Name, Node, OpenFlags, Vfs, WriteFlags};
use stoa_volume::{FormatOptions, OpenOptions, Owner, Volume};

/// More than what lives in the namespace.
const LARGE: &[u8] = &[7; 100_000];

async fn open(store: &Arc<dyn ObjectStore>) -> Arc<Volume> {
    Volume::open(Arc::clone(store), OpenOptions::new(Owner::new("test", "damaged"))).await.unwrap()
}

async fn make(volume: &Volume, called: &'static str) -> Ino {
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    volume.make(Caller::ROOT, Ino::ROOT, &Name::new(called).unwrap(), &make).await.unwrap().attr.ino
}

async fn open_file(volume: &Volume, ino: Ino) -> Handle {
    volume.open(ino, OpenFlags { read: true, write: true, ..OpenFlags::default() }).await.unwrap()
}

async fn write(volume: &Volume, ino: Ino, handle: Handle, data: &'static [u8]) -> Result<(), Error> {
    volume.write(ino, handle, 0, Bytes::from_static(data), WriteFlags::default()).await
}

/// A volume, closed, with a file whose extents can't be read.
async fn damaged() -> (Arc<dyn ObjectStore>, Ino) {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    stoa_volume::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    let volume = open(&store).await;
    let ino = make(&volume, "damaged").await;
    let handle = open_file(&volume, ino).await;
    write(&volume, ino, handle, LARGE).await.unwrap();
    volume.close().await.unwrap();
    let records = testing::records(Arc::clone(&store)).await.unwrap();
    let of_file = |key: &RecordKey| matches!(key, RecordKey::Extent(of, _) if *of == ino);
    let extents: Vec<_> = records.keys().filter_map(|key| RecordKey::decode(key).ok()).filter(of_file).collect();
    assert!(!extents.is_empty());
    let no_extent = || Some(Bytes::from_static(&[0xff]));
    testing::plant(Arc::clone(&store), extents.into_iter().map(|key| (key, no_extent())).collect()).await.unwrap();
    (store, ino)
}

async fn expect_only_this_fails(data: &'static [u8]) {
    let (store, ino) = damaged().await;
    let volume = open(&store).await;
    let handle = open_file(&volume, ino).await;
    write(&volume, ino, handle, data).await.unwrap();
    let synced = volume.fsync(ino).await;
    assert!(matches!(synced, Err(Error::Corrupt(_))), "{synced:?}");

    let other = make(&volume, "other").await;
    let others = open_file(&volume, other).await;
    write(&volume, other, others, LARGE).await.unwrap();
    volume.fsync(other).await.unwrap();
    volume.sync().await.unwrap();

    // What was written is gone: nothing that is done to the file while it is open says otherwise.
    let again = [
        write(&volume, ino, handle, data).await,
        volume.flush(ino, handle).await,
        volume.fsync(ino).await,
        volume.read(ino, handle, 0, 10).await.map(drop),
    ];
    assert!(again.iter().all(|done| matches!(done, Err(Error::Corrupt(_)))), "{again:?}");
    volume.close().await.unwrap();

    let volume = open(&store).await;
    let handle = open_file(&volume, other).await;
    assert!(volume.read(other, handle, 0, LARGE.len()).await.unwrap().concat() == LARGE);
    volume.close().await.unwrap();
}

#[tokio::test]
async fn a_small_write_to_a_damaged_file_fails_and_others_go_on() {
    expect_only_this_fails(b"small").await;
}

#[tokio::test]
async fn a_large_write_to_a_damaged_file_fails_and_others_go_on() {
    expect_only_this_fails(LARGE).await;
}

/// Nobody waits for it: the flusher finds out, and goes on with the others.
#[tokio::test]
async fn what_is_written_behind_to_a_damaged_file_stops_nobody() {
    let (store, ino) = damaged().await;
    let volume = open(&store).await;
    let handle = open_file(&volume, ino).await;
    write(&volume, ino, handle, LARGE).await.unwrap();
    let other = make(&volume, "other").await;
    let others = open_file(&volume, other).await;
    write(&volume, other, others, LARGE).await.unwrap();
    let synced = volume.sync().await;
    assert!(matches!(synced, Err(Error::Corrupt(_))), "{synced:?}");
    volume.release(ino, handle).await;
    volume.fsync(other).await.unwrap();
    volume.close().await.unwrap();
}

/// Enough links that the records of a file's extents and all others lie far apart in the table.
const LINKS: usize = 500;

async fn take_away(store: &Arc<dyn ObjectStore>, prefix: &str) -> Vec<(Path, Bytes)> {
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
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    stoa_volume::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    let volume = open(&store).await;
    let target = Bytes::from(vec![b'x'; 4000]);
    for n in 0..LINKS {
        let make = Make { node: Node::Symlink(target.clone()), mode: 0o777, umask: 0 };
        let called = Name::new(Bytes::from(format!("link{n}"))).unwrap();
        volume.make(Caller::ROOT, Ino::ROOT, &called, &make).await.unwrap();
    }
    let ino = make(&volume, "file").await;
    let handle = open_file(&volume, ino).await;
    write(&volume, ino, handle, LARGE).await.unwrap();
    volume.close().await.unwrap();

    let volume = open(&store).await;
    let handle = open_file(&volume, ino).await;
    let taken = take_away(&store, "meta/compacted").await;
    assert!(!taken.is_empty());
    write(&volume, ino, handle, b"new").await.unwrap();
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
    let handle = open_file(&volume, ino).await;
    assert_eq!(volume.read(ino, handle, 0, 5).await.unwrap().concat(), b"new\x07\x07");
    volume.close().await.unwrap();
}
