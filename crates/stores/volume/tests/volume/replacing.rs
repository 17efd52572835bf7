//! A file that is replaced is there whole, old or new, whatever is made durable in between.

use crate::world::{self, File, LARGE, Store, find, formatted, make, name, quiet};
use std::sync::Arc;
use stoa_vfs::{Ino, OpenFlags, RenameMode, Vfs};
use stoa_volume::{OpenOptions, Volume};

async fn open(store: &Store) -> Arc<Volume> {
    world::open(store, OpenOptions { take_over: true, ..quiet() }).await
}

async fn write(volume: &Volume, called: &str, byte: u8) -> File {
    let file = make(volume, called).await;
    world::write(volume, file, 0, vec![byte; LARGE]).await;
    file
}

async fn content(volume: &Volume, called: &str) -> Vec<u8> {
    world::content(volume, find(volume, called).await).await
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
    assert_eq!(content(&recovered, "file").await, vec![b'n'; LARGE]);
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
    world::write(&volume, (ino, handle), 0, vec![b'n'; LARGE / 2]).await;
    volume.fsync(Ino::ROOT).await.unwrap();
    volume.abandon();
    let recovered = open(&store).await;
    assert_eq!(content(&recovered, "file").await, vec![b'o'; LARGE]);
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
