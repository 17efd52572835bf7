//! The end of a mount while files are being written.

use crate::world::{World, Writer, patient};
use crate::writes::{MIB, pattern, write_all};
use std::collections::BTreeMap;
use std::time::Duration;
use stoa_bucket::{Options, Unfinished};
use stoa_objects::testing::S3Fault;

fn options() -> Options {
    Options { host: "here".to_owned(), memory_bytes_max: 512 << 20, ..patient() }
}

/// An object, and somebody who is about to replace it.
async fn replacing(old: &[u8]) -> (World, Writer) {
    let world = World::new(&options()).await;
    world.put("file", old).await;
    let writer = world.writer(world.ino("file").await, true).await.unwrap();
    (world, writer)
}

/// Ends the mount. What is in the bucket then: `file`, and nothing or this beside it.
async fn expect_end(world: &World, file: Option<&[u8]>, beside: Option<&[u8]>) -> Vec<Unfinished> {
    let ended = world.files.close().await.unwrap();
    assert!(world.object("file").await.as_deref() == file, "the object");
    let others: Vec<String> = world.keys().await.into_iter().filter(|key| key != "file").collect();
    assert_eq!(others.len(), usize::from(beside.is_some()), "{others:?}");
    for key in &others {
        assert!(key.starts_with("file.unfinished-here-"), "{key}");
        assert!(world.object(key).await.as_deref() == beside, "{key}");
        assert_eq!(ended, [Unfinished { key: "file".to_owned(), beside: Some(key.clone()), emptied: false }]);
    }
    assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_half_written_does_not_take_the_place_of_what_is_whole() {
    for len in [10, 7 * MIB, 40 * MIB + 1] {
        let old = pattern(1, 50 * MIB);
        let (world, writer) = replacing(&old).await;
        let new = pattern(2, len);
        write_all(&writer, 0, &new).await;
        world.files.settle().await.unwrap();
        assert!(world.object("file").await.unwrap() == old, "not before the end either");
        expect_end(&world, Some(&old), Some(&new)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_is_kept_beside() {
    let world = World::new(&options()).await;
    let old = pattern(1, 30 * MIB);
    world.put("file", &old).await;
    let editor = world.editor(world.ino("file").await).await.unwrap();
    editor.write(17 * MIB as u64, b"changed").await.unwrap();
    let mut new = old.clone();
    new[17 * MIB..17 * MIB + 7].copy_from_slice(b"changed");
    expect_end(&world, Some(&old), Some(&new)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_sent_of_an_edit_is_kept_beside() {
    for replaced in [false, true] {
        let world = World::new(&options()).await;
        let (mut old, written) = (pattern(1, 100 * MIB), pattern(2, 40 * MIB));
        world.put("file", &old).await;
        let writer = world.writer(world.ino("file").await, false).await.unwrap();
        write_all(&writer, 16 * MIB as u64, &written).await;
        let mut new = old.clone();
        if replaced {
            old = b"of somebody else".to_vec();
            new.fill(0);
            world.put("file", &old).await;
        }
        new[16 * MIB..56 * MIB].copy_from_slice(&written);
        let ended = expect_end(&world, Some(&old), Some(&new)).await;
        assert_eq!(ended[0].beside.as_ref().unwrap().ends_with("-incomplete"), replaced);
    }
}

/// What was sent takes the place of what was there for a while: that comes back with its tags, and if it can't, it is said where it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_had_to_make_room_comes_back_or_is_named() {
    for fails in [false, true] {
        let old = pattern(1, 20 * MIB);
        let (world, writer) = replacing(&old).await;
        let tags = BTreeMap::from([("team".to_owned(), "red".to_owned())]);
        world.other.put_tags("file", &tags).await.unwrap();
        let new = pattern(2, 40 * MIB);
        write_all(&writer, 0, &new).await;
        if !fails {
            expect_end(&world, Some(&old), Some(&new)).await;
            assert_eq!(world.other.get_tags("file").await.unwrap(), tags);
            continue;
        }
        // The first makes what was written the object; the second would put back what was there.
        for fault in [S3Fault::Delay(Duration::ZERO), S3Fault::Status(403)] {
            world.server.faults.next("POST", "/file?uploadId", fault);
        }
        let error = world.files.close().await.unwrap_err().to_string();
        let keys = world.keys().await;
        let aside = keys.iter().find(|key| key.ends_with("-theirs")).unwrap();
        assert!(world.object(aside).await.unwrap() == old && error.contains(aside), "{error}");
        assert_eq!(world.other.get_tags(aside).await.unwrap(), tags);
        assert!(world.object("file").await.unwrap() == new);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_appended_and_what_is_new_keep_their_name() {
    let world = World::new(&options()).await;
    world.put("file", b"old and ").await;
    let writer = world.writer(world.ino("file").await, false).await.unwrap();
    writer.write(8, b"more").await.unwrap();
    let ended = expect_end(&world, Some(b"old and more"), None).await;
    assert_eq!(ended, [Unfinished { key: "file".to_owned(), beside: None, emptied: false }], "it is said all the same");

    let world = World::new(&options()).await;
    let (writer, new) = (world.create("file").await, pattern(3, 20 * MIB));
    write_all(&writer, 0, &new).await;
    let ended = expect_end(&world, Some(&new), None).await;
    assert_eq!(ended, [Unfinished { key: "file".to_owned(), beside: None, emptied: false }]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_only_emptied_is_as_it_was_while_somebody_has_it_open() {
    let (world, _writer) = replacing(b"old").await;
    assert_eq!(expect_end(&world, Some(b"old"), None).await, []);
    // Of a shell that has closed a copy of the descriptor, and of one that is done with it, as much is known.
    let (world, writer) = replacing(b"old").await;
    writer.flush().await.unwrap();
    let ended = expect_end(&world, Some(b"old"), None).await;
    assert_eq!(ended.len(), 1);
    assert!(ended[0].to_string().contains("\"file\" is as it was before, and not empty"), "{}", ended[0]);
    assert!(writer.close().await.is_err(), "what comes after the end changes nothing");
    assert_eq!(world.object("file").await.unwrap(), b"old");
    let (world, writer) = replacing(b"old").await;
    writer.close().await.unwrap();
    assert_eq!(expect_end(&world, Some(b""), None).await, [], "it was closed for the last time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_emptied_again_was_not_closed_since() {
    let (world, first) = replacing(b"old").await;
    first.flush().await.unwrap();
    first.write(0, b"new").await.unwrap();
    first.flush().await.unwrap();
    let _second = world.writer(first.ino, true).await.unwrap();
    assert_eq!(expect_end(&world, Some(b"new"), None).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_closed_or_synced_is_whole() {
    let (world, writer) = replacing(b"old").await;
    writer.write(0, b"new").await.unwrap();
    writer.flush().await.unwrap();
    assert_eq!(expect_end(&world, Some(b"new"), None).await, []);
}
