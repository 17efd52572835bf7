//! A file that is replaced is there whole, old or new, whatever is made durable in between.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::{Caller, Handle, Ino, Make, Name, Node, OpenFlags, RenameMode, Vfs, WriteFlags};
use stoa_volume::{FormatOptions, OpenOptions, Owner, Volume};

/// More than what lives in the namespace: it needs a segment.
const BYTES: usize = 100_000;

async fn open(store: &Arc<dyn ObjectStore>) -> Arc<Volume> {
    // Nothing becomes durable by itself while a test runs.
    let options = OpenOptions {
        take_over: true,
        commit_interval: Duration::from_secs(3600),
        ..OpenOptions::new(Owner::new("test", "test"))
    };
    Volume::open(Arc::clone(store), options).await.unwrap()
}

async fn formatted() -> Arc<dyn ObjectStore> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    stoa_volume::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    store
}

fn name(text: &'static str) -> Name {
    Name::new(text).unwrap()
}

async fn write(volume: &Volume, called: &'static str, byte: u8) -> (Ino, Handle) {
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    let ino = volume.make(Caller::ROOT, Ino::ROOT, &name(called), &make).await.unwrap().attr.ino;
    let handle = volume.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap();
    volume.write(ino, handle, 0, Bytes::from(vec![byte; BYTES]), WriteFlags::default()).await.unwrap();
    (ino, handle)
}

async fn content(volume: &Volume, called: &'static str) -> Vec<u8> {
    let ino = volume.lookup(Ino::ROOT, &name(called)).await.unwrap().attr.ino;
    let handle = volume.open(ino, OpenFlags::default()).await.unwrap();
    volume.read(ino, handle, 0, BYTES * 2).await.unwrap().concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rename_over_a_file_is_never_durable_before_the_new_content() {
    let store = formatted().await;
    let volume = open(&store).await;
    let (old, _) = write(&volume, "file", b'o').await;
    volume.fsync(old).await.unwrap();
    write(&volume, "new", b'n').await;
    volume.rename(Ino::ROOT, &name("new"), Ino::ROOT, &name("file"), RenameMode::Replace).await.unwrap();
    // Makes the names durable, and says nothing of the new file's content.
    volume.fsync(Ino::ROOT).await.unwrap();
    volume.abandon();
    let recovered = open(&store).await;
    assert_eq!(content(&recovered, "file").await, vec![b'n'; BYTES]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_being_rewritten_keeps_its_old_content_until_then() {
    let store = formatted().await;
    let volume = open(&store).await;
    let (ino, handle) = write(&volume, "file", b'o').await;
    volume.fsync(ino).await.unwrap();
    volume.release(ino, handle).await;
    let rewriting = OpenFlags { write: true, truncate: true, ..OpenFlags::default() };
    let handle = volume.open(ino, rewriting).await.unwrap();
    volume.write(ino, handle, 0, Bytes::from(vec![b'n'; BYTES / 2]), WriteFlags::default()).await.unwrap();
    volume.fsync(Ino::ROOT).await.unwrap();
    volume.abandon();
    let recovered = open(&store).await;
    assert_eq!(content(&recovered, "file").await, vec![b'o'; BYTES]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_made_durable_that_was_not_asked_for() {
    // Keeps the two tests above honest: without a sync, a crash right after a write leaves nothing of it.
    let store = formatted().await;
    let volume = open(&store).await;
    write(&volume, "file", b'o').await;
    volume.abandon();
    let recovered = open(&store).await;
    assert_eq!(recovered.lookup(Ino::ROOT, &name("file")).await, Err(stoa_vfs::Error::NotFound));
}
