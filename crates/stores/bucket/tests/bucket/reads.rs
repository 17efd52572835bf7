//! Reads: what they fetch, and objects that are replaced under them.

use crate::world::{World, doubting, patient, stat};
use std::sync::Arc;
use stoa_objects::Verb;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, OpenFlags, Vfs};

/// Bytes without a period that a piece could hide.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + (at >> 8) * 17 + (at >> 16) * 5) as u8).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_range_is_read() {
    let world = World::new(&patient()).await;
    let content = pattern(1_000_003);
    world.put("file", &content).await;
    world.put("empty", "").await;
    let ino = world.ino("file").await;
    let handle = world.files.open(ino, OpenFlags::default()).await.unwrap();
    for (offset, size) in
        [(0, 1), (999_999, 100), (131_071, 2), (0, 2_000_000), (500_000, 262_144), (1_000_003, 5), (5_000_000, 1)]
    {
        let read = world.files.read(ino, handle, offset, size).await.unwrap().concat();
        let from = content.len().min(offset as usize);
        assert!(read == content[from..content.len().min(from + size)], "{offset} {size}");
    }
    world.files.release(ino, handle).await;
    assert_eq!(world.files.read(ino, handle, 0, 1).await, Err(Error::BadHandle));
    assert_eq!(world.cost(world.cat("empty")).await.1.gets, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_read_fetches_little() {
    let world = World::new(&patient()).await;
    world.put("large", pattern(32 << 20)).await;
    let ino = world.ino("large").await;
    let handle = world.files.open(ino, OpenFlags::default()).await.unwrap();
    let before = world.files.s3().meter().counts();
    world.files.read(ino, handle, 20 << 20, 4096).await.unwrap();
    let spent = world.files.s3().meter().counts().since(&before);
    assert_eq!((spent.of(Verb::Get), spent.total()), (1, 1));
    assert!(spent.bytes_in <= 256 << 10, "{} bytes", spent.bytes_in);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_one_object_share_its_download() {
    let world = World::new(&patient()).await;
    let content = Arc::new(pattern(16 << 20));
    world.put("large", content.as_ref()).await;
    let attr = world.stat("large").await.unwrap();
    let before = world.files.s3().meter().counts();
    let readers = (0..6_usize).map(|reader| {
        let (files, content, ino) = (Arc::clone(&world.files), Arc::clone(&content), attr.ino);
        tokio::spawn(async move {
            let handle = files.open(ino, OpenFlags::default()).await.unwrap();
            const STEP: usize = 1 << 20;
            // Forwards from the start, or from the middle, and backwards.
            for step in 0..16 {
                let at = [step, (step + 8) % 16, 15 - step][reader % 3] * STEP;
                let read = files.read(ino, handle, at as u64, STEP).await.unwrap().concat();
                assert!(read == content[at..at + STEP], "reader {reader} at {at}");
            }
        })
    });
    for reader in futures::future::join_all(readers).await {
        reader.unwrap();
    }
    let spent = world.files.s3().meter().counts().since(&before);
    assert!(spent.bytes_in < 40 << 20, "{} bytes for six readers of 16 MiB", spent.bytes_in);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replaced_object_is_stale_and_never_mixed() {
    let world = World::new(&patient()).await;
    let (old, new) = (vec![b'o'; 4 << 20], vec![b'n'; 4 << 20]);
    world.put("file", &old).await;
    let before = world.stat("file").await.unwrap();
    let handle = world.files.open(before.ino, OpenFlags::default()).await.unwrap();
    let read = |offset| world.files.read(before.ino, handle, offset, 4096);
    assert!(read(0).await.unwrap().concat() == old[..4096]);
    world.put("file", &new).await;
    // What is cached may still be read; what is not is refused.
    assert!(read(0).await.unwrap().concat() == old[..4096]);
    assert_eq!(read((4 << 20) - 4096).await, Err(Error::Stale));
    // From now on the name is looked at again, though its time is not over.
    assert_eq!(world.files.open(before.ino, OpenFlags::default()).await, Err(Error::Stale));
    assert!(world.cat("file").await.unwrap() == new);
    assert_eq!(read((4 << 20) - 4096).await, Err(Error::Stale));
    assert_ne!(world.ino("file").await, before.ino);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_object_is_stale() {
    let world = World::new(&patient()).await;
    world.put("file", pattern(3 << 20)).await;
    let attr = world.stat("file").await.unwrap();
    let handle = world.files.open(attr.ino, OpenFlags::default()).await.unwrap();
    world.other.delete("file", None, None).await.unwrap();
    assert_eq!(world.files.read(attr.ino, handle, 2 << 20, 10).await, Err(Error::Stale));
    assert_eq!(world.stat("file").await, Err(Error::NotFound));
    // And back.
    world.put("file", "content").await;
    let fresh = world.again(&doubting());
    assert_eq!(
        crate::world::read(fresh.as_ref(), stat(fresh.as_ref(), "file").await.unwrap()).await.unwrap(),
        b"content"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_content_again_is_the_same_file() {
    let world = World::new(&doubting()).await;
    world.put("file", "content").await;
    let attr = world.stat("file").await.unwrap();
    world.other.delete("file", None, None).await.unwrap();
    assert!(world.cat("file").await.is_err());
    world.put("file", "content").await;
    assert_eq!(world.cat("file").await.unwrap(), b"content");
    assert_eq!(world.ino("file").await, attr.ino);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_connections_are_taken_up_again() {
    let world = World::new(&patient()).await;
    let content = pattern(3 << 20);
    world.put("file", &content).await;
    for _ in 0..3 {
        world.server.faults.next("GET", "/file", S3Fault::CutBody);
    }
    assert!(world.cat("file").await.unwrap() == content);
    assert_eq!(world.server.faults.pending(), 0);
}
