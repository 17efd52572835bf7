//! Making and opening a volume when others do so too, and when it fails halfway.

use crate::hooked::{Hook, Hooked};
use crate::world::{self, REGULAR, Store, format, formatted, make, name};
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::{Caller, Ino, Vfs};
use stoa_volume::{Error, OpenOptions, Volume};

fn memory() -> Store {
    Arc::new(InMemory::new())
}

async fn try_open(store: &Store, read_only: bool) -> stoa_volume::Result<Arc<Volume>> {
    Volume::open(Arc::clone(store), OpenOptions { read_only, ..world::options() }).await
}

async fn open(store: &Store) -> Arc<Volume> {
    try_open(store, false).await.unwrap()
}

async fn names(store: &Store, prefix: &str) -> Vec<String> {
    let objects: Vec<_> = store.list(Some(&Path::from(prefix))).try_collect().await.unwrap();
    objects.into_iter().map(|object| object.location.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_formats_at_once_one_makes_the_volume() {
    for _ in 0..20 {
        let store = memory();
        let formats = (0..8).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let made = format(&store).await?;
                // Written while the others are still at it.
                let volume = open(&store).await;
                volume.make(Caller::ROOT, Ino::ROOT, &name("kept"), &REGULAR).await.unwrap();
                volume.close().await.unwrap();
                Ok::<_, Error>(made)
            })
        });
        let made: Vec<_> = futures::future::join_all(formats).await.into_iter().map(Result::unwrap).collect();
        let winners: Vec<_> = made.iter().filter_map(|made| made.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1, "{made:?}");
        for refused in made.iter().filter_map(|made| made.as_ref().err()) {
            let known = matches!(refused, Error::Exists(_)) || refused.to_string().contains("is under way since");
            assert!(known, "{refused}");
        }
        let volume = open(&store).await;
        assert_eq!(volume.status().volume.uuid, winners[0].uuid);
        volume.lookup(Ino::ROOT, &name("kept")).await.unwrap();
        volume.close().await.unwrap();
        store.head(&Path::from("format.json")).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_format_that_was_interrupted_is_told_with_what_to_do() {
    let store = memory();
    let hanging: Store = Hooked::over(&store, Hook::Hang("meta"));
    tokio::time::timeout(Duration::from_millis(200), format(&hanging)).await.unwrap_err();
    let said = format(&store).await.unwrap_err().to_string();
    assert!(said.contains("it was interrupted") && said.contains("remove every object under"), "{said}");
    for name in names(&store, "").await {
        store.delete(&Path::from(name)).await.unwrap();
    }
    format(&store).await.unwrap();
}

#[tokio::test]
async fn other_things_are_not_taken_for_an_interrupted_format() {
    let store = memory();
    store.put(&Path::from("meta/photo.jpg"), "x".into()).await.unwrap();
    assert!(matches!(format(&store).await, Err(Error::NotEmpty(_))));
    assert_eq!(names(&store, "").await, ["meta/photo.jpg"]);
}

#[tokio::test]
async fn a_failed_open_gives_the_volume_back() {
    let store = formatted().await;
    for name in names(&store, "meta").await {
        store.delete(&Path::from(name)).await.unwrap();
    }
    // Its owner is of no known process, so only a release lets the next one in.
    for _ in 0..2 {
        let failed = try_open(&store, false).await.map(drop).unwrap_err();
        assert!(!matches!(failed, Error::Owned(_)), "{failed}");
    }
}

#[tokio::test]
async fn who_is_overtaken_while_opening_gives_way() {
    let store = formatted().await;
    let crossed: Store = Hooked::over(&store, Hook::TakeOver("meta"));
    let refused = try_open(&crossed, false).await.unwrap_err();
    assert!(matches!(&refused, Error::Fenced(why) if why.contains("host other")), "{refused}");
}

/// A volume whose last mount ended with a file of `len` bytes that was unlinked and still open.
async fn with_orphan(len: usize) -> Store {
    let store = formatted().await;
    let volume = open(&store).await;
    let file = make(&volume, "orphan").await;
    world::write(&volume, file, 0, vec![1; len]).await;
    volume.unlink(Ino::ROOT, &name("orphan")).await.unwrap();
    volume.close().await.unwrap();
    store
}

async fn inodes_become(volume: &Volume, expected: u64) -> bool {
    for _ in 0..100 {
        if volume.status().inodes == expected {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn orphans_are_reaped_in_the_background_but_not_by_a_reader() {
    let store = with_orphan(100_000).await;
    let reader = try_open(&store, true).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(reader.status().inodes, 2);
    reader.close().await.unwrap();
    let volume = open(&store).await;
    assert!(inodes_become(&volume, 1).await, "{:?}", volume.status());
    volume.close().await.unwrap();
}

/// More writes than are made until a volume is closed.
const WRITES_MAX: u64 = 2_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_while_a_volume_closes_is_stored_or_refused() {
    for _ in 0..20 {
        let store = formatted().await;
        let volume = open(&store).await;
        let (ino, handle) = make(&volume, "file").await;
        let writing = Arc::clone(&volume);
        let writer = tokio::spawn(async move {
            let write = |at| writing.write(ino, handle, at, vec![1].into(), stoa_vfs::WriteFlags::default());
            let mut written = 0;
            while written < WRITES_MAX && write(written).await.is_ok() {
                written += 1;
            }
            written
        });
        tokio::time::sleep(Duration::from_millis(5)).await;
        volume.close().await.unwrap();
        let written = writer.await.unwrap();
        let volume = open(&store).await;
        let stored = volume.lookup(Ino::ROOT, &name("file")).await.unwrap().attr.size;
        assert!((1..=stored).contains(&written), "{written} bytes were taken, {stored} are stored");
        volume.close().await.unwrap();
    }
}
