//! Two who write one object: both versions are kept, and the one that comes later is told.

use crate::world::{World, Writer, patient, read, stat};
use crate::writes::{MIB, pattern, write_all};
use std::time::Duration;
use stoa_bucket::Options;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, Vfs};

const THEIRS: &[u8] = b"of somebody else";

fn options() -> Options {
    Options { host: "my/host".to_owned(), ..patient() }
}

/// The keys of what was kept beside `file`.
async fn beside(world: &World) -> Vec<String> {
    world.keys().await.into_iter().filter(|key| key.starts_with("file.conflict-my-host-")).collect()
}

/// Closing fails, theirs keeps the name, and what was written is beside it.
async fn expect_both(world: &World, file: Writer, theirs: Option<&[u8]>, ours: &[u8]) {
    assert_eq!(file.flush().await, Err(Error::Stale));
    assert_eq!(file.flush().await, Err(Error::Stale), "said as long as it is open");
    assert!(file.close().await.is_err());
    assert_eq!(world.object("file").await.as_deref(), theirs);
    let beside = beside(world).await;
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert!(world.object(&beside[0]).await.unwrap() == ours, "{beside:?}");
    assert!(world.cat(&beside[0]).await.unwrap() == ours, "it is seen here");
    assert_eq!(world.keys().await.len(), 1 + usize::from(theirs.is_some()), "and nothing else is left");
    assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
    if let Some(theirs) = theirs {
        assert_eq!(world.cat("file").await.unwrap(), theirs);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_replaced_meanwhile() {
    for len in [0, 10, 7 * MIB, 40 * MIB + 1] {
        let world = World::new(&options()).await;
        world.put("file", "old").await;
        let file = world.writer(world.ino("file").await, true).await.unwrap();
        let ours = pattern(1, len);
        write_all(&file, 0, &ours).await;
        world.put_with("file", THEIRS, &[("mode", "33188")]).await;
        if len > 0 {
            expect_both(&world, file, Some(THEIRS), &ours).await;
            let carried = world.other.head("file", None).await.unwrap().headers.metadata;
            assert_eq!(carried.get("mode").map(String::as_str), Some("33188"), "theirs is as it was");
        } else {
            // Nothing was written yet; it is stored when the last descriptor is closed.
            file.close().await.unwrap();
            assert_eq!(world.object("file").await.unwrap(), THEIRS);
            assert_eq!(beside(&world).await.len(), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_that_somebody_else_made_too() {
    for len in [10, 40 * MIB] {
        let world = World::new(&options()).await;
        let file = world.create("file").await;
        let ours = pattern(2, len);
        write_all(&file, 0, &ours).await;
        world.put("file", THEIRS).await;
        expect_both(&world, file, Some(THEIRS), &ours).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_removed_meanwhile() {
    for len in [10, 40 * MIB] {
        let world = World::new(&options()).await;
        world.put("file", "old").await;
        let file = world.writer(world.ino("file").await, true).await.unwrap();
        let ours = pattern(3, len);
        write_all(&file, 0, &ours).await;
        world.other.delete("file", None, None).await.unwrap();
        expect_both(&world, file, None, &ours).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_kept_of_the_old_content_is_in_its_version() {
    for len in [100_000, 40 * MIB] {
        let world = World::new(&options()).await;
        world.server.keep_versions("bucket");
        let mut ours = pattern(4, len);
        world.put("file", &ours).await;
        let file = world.writer(world.ino("file").await, false).await.unwrap();
        file.write(50_000, b"changed").await.unwrap();
        ours[50_000..50_007].copy_from_slice(b"changed");
        world.put("file", THEIRS).await;
        expect_both(&world, file, Some(THEIRS), &ours).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_versions_what_was_kept_is_what_is_cached() {
    for cached in [true, false] {
        let world = World::new(&options()).await;
        let mut ours = pattern(5, 1_000_000);
        world.put("file", &ours).await;
        if cached {
            world.cat("file").await.unwrap();
        }
        let file = world.writer(world.ino("file").await, false).await.unwrap();
        file.write(500_000, b"changed").await.unwrap();
        if !cached {
            ours.fill(0);
        }
        ours[500_000..500_007].copy_from_slice(b"changed");
        world.put("file", THEIRS).await;
        expect_both(&world, file, Some(THEIRS), &ours).await;
        assert_eq!(beside(&world).await[0].ends_with("-incomplete"), !cached);
    }
}

/// Parts of what is written are sent, and the rest of the file is kept: neither can be had anywhere else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_kept_beside_what_was_sent_is_what_is_cached() {
    for (len, offset) in [(25 * MIB + 3, 8 * MIB), (9 * MIB, 9 * MIB)] {
        for (cached, theirs) in [(true, Some(THEIRS)), (false, Some(THEIRS)), (false, None)] {
            let world = World::new(&Options { memory_bytes_max: 256 << 20, ..options() }).await;
            let mut ours = pattern(6, len);
            world.put("file", &ours).await;
            if cached {
                world.cat("file").await.unwrap();
            }
            let file = world.writer(world.ino("file").await, false).await.unwrap();
            let new = pattern(7, 16 * MIB + 5);
            write_all(&file, offset as u64, &new).await;
            if !cached {
                ours.fill(0);
            }
            ours.resize(len.max(offset + new.len()), 0);
            ours[offset..offset + new.len()].copy_from_slice(&new);
            match theirs {
                Some(theirs) => world.put("file", theirs).await,
                None => world.other.delete("file", None, None).await.unwrap(),
            }
            expect_both(&world, file, theirs, &ours).await;
            assert_eq!(beside(&world).await[0].ends_with("-incomplete"), !cached);
        }
    }
}

/// Ours has taken the place of theirs, and nobody here was told: the copy of theirs is the only one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn theirs_stays_aside_when_ours_may_have_taken_its_place() {
    let world = World::new(&options()).await;
    world.put("file", "old").await;
    let file = world.writer(world.ino("file").await, true).await.unwrap();
    let ours = pattern(1, 40 * MIB);
    write_all(&file, 0, &ours).await;
    world.put("file", THEIRS).await;
    for fault in [S3Fault::Delay(Duration::ZERO), S3Fault::DropAfter, S3Fault::Status(403)] {
        world.server.faults.next("POST", "/file?uploadId", fault);
    }
    assert_eq!(file.close().await, Err(Error::Stale));
    assert_eq!(world.server.faults.pending(), 0);
    assert!(world.object("file").await.unwrap() == ours);
    let aside = beside(&world).await;
    assert!(aside.len() == 1 && aside[0].ends_with("-theirs"), "{aside:?}");
    assert_eq!(world.object(&aside[0]).await.unwrap(), THEIRS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_mounts_that_write_one_file() {
    let world = World::new(&options()).await;
    world.put("file", "old").await;
    let other = world.again(&Options { host: "other".to_owned(), ..patient() });
    let mine = world.writer(world.ino("file").await, true).await.unwrap();
    let attr = stat(other.as_ref(), "file").await.unwrap();
    let flags = stoa_vfs::OpenFlags { write: true, truncate: true, ..stoa_vfs::OpenFlags::default() };
    let handle = other.open(attr.ino, flags).await.unwrap();
    let data = bytes::Bytes::from_static(b"theirs");
    other.write(attr.ino, handle, 0, data, stoa_vfs::WriteFlags::default()).await.unwrap();
    mine.write(0, b"mine").await.unwrap();
    mine.close().await.unwrap();
    assert_eq!(other.fsync(attr.ino).await, Err(Error::Stale));
    other.release(attr.ino, handle).await;
    assert_eq!(world.object("file").await.unwrap(), b"mine");
    let keys = world.keys().await;
    let beside = keys.iter().find(|key| key.starts_with("file.conflict-other-")).unwrap();
    assert_eq!(world.object(beside).await.unwrap(), b"theirs");
    let now = stat(other.as_ref(), "file").await.unwrap();
    assert_eq!(read(other.as_ref(), now).await.unwrap(), b"mine");
}
