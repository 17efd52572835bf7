//! Writes: what is in the store when, and what becomes of those that fail.

use crate::world::{World, Writer, doubting, patient};
use stoa_objects::Verb;
use stoa_objects::s3::{Condition, Headers};
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, Node, SetAttr, SetTime, Vfs};

pub(crate) const MIB: usize = 1 << 20;

pub(crate) fn pattern(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|at| seed ^ (at * 31 + (at >> 8) * 17 + (at >> 16) * 5) as u8).collect()
}

/// Writes all of `content` after what is there, a MiB at a time.
pub(crate) async fn write_all(writer: &Writer, from: u64, content: &[u8]) {
    let mut offset = from;
    for data in content.chunks(MIB) {
        writer.write(offset, data).await.unwrap();
        offset += data.len() as u64;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_file_is_one_put_when_it_is_closed() {
    let world = World::new(&patient()).await;
    // Once it is found out whether files may be written here.
    world.create("other").await.close().await.unwrap();
    world.ls("").await;
    let before = world.files.s3().meter().counts();
    let file = world.create("new").await;
    file.write(0, b"hello ").await.unwrap();
    file.write(6, b"world").await.unwrap();
    assert_eq!(world.object("new").await, None, "nothing is visible before");
    let attr = world.stat("new").await.unwrap();
    assert_eq!((attr.size, attr.ino), (11, file.ino), "but here");
    assert_eq!(world.ls("").await, ["new", "other"]);
    let ino = file.ino;
    file.close().await.unwrap();
    let spent = world.files.s3().meter().counts().since(&before);
    assert_eq!((spent.of(Verb::Put), spent.total()), (1, 1), "in a directory that was listed");
    assert_eq!(world.object("new").await.unwrap(), b"hello world");
    assert_eq!(world.ls("").await, ["new", "other"]);
    assert_eq!(world.ino("new").await, ino);
    assert_eq!(world.cat("new").await.unwrap(), b"hello world");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_file_is_an_object_too() {
    let world = World::new(&patient()).await;
    let file = world.create("empty").await;
    assert_eq!(world.make("empty", Node::Regular).await, Err(Error::Exists));
    file.close().await.unwrap();
    assert_eq!(world.object("empty").await.unwrap(), b"");
    assert_eq!(world.ls("").await, ["empty"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_nobody_opened_gets_into_the_store_though_the_kernel_forgets_it() {
    let world = World::new(&patient()).await;
    let ino = world.make("made", Node::Regular).await.unwrap();
    world.files.forget(ino, 1);
    assert_eq!(world.ls("").await, ["made"]);
    assert_eq!(world.object("made").await, None);
    assert_eq!(world.ino("made").await, ino, "it is still the same");
    world.files.sync().await.unwrap();
    assert_eq!(world.object("made").await.unwrap(), b"");
    assert_eq!(world.files.status().dirty_bytes, 0);

    let ino = world.make("removed", Node::Regular).await.unwrap();
    world.files.forget(ino, 1);
    let (dir, name) = world.place("removed").await;
    world.files.unlink(dir, &name).await.unwrap();
    assert_eq!(world.files.getattr(ino).await, Err(Error::Stale), "nobody refers to it any more");
    world.files.sync().await.unwrap();
    assert_eq!(world.object("removed").await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_file_is_sent_while_it_is_written_and_seen_when_it_is_closed() {
    let world = World::new(&patient()).await;
    let content = pattern(1, 40 * MIB + 77);
    let file = world.create("large").await;
    write_all(&file, 0, &content).await;
    let sent = world.files.s3().meter().counts().of(Verb::Part);
    assert!(sent >= 2, "{sent} parts so far");
    assert!(world.files.status().dirty_bytes <= 8 << 20, "of 64 MiB an eighth");
    assert_eq!((world.object("large").await, world.server.uploads_open("bucket")), (None, 1));
    file.close().await.unwrap();
    assert!(world.object("large").await.unwrap() == content);
    assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
    assert!(world.cat("large").await.unwrap() == content);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_replaced_is_the_old_one_until_it_is_closed() {
    let world = World::new(&patient()).await;
    world.put_with("file", "old content", &[("mode", "33261"), ("mtime", "1609459200")]).await;
    let ino = world.ino("file").await;
    let file = world.writer(ino, true).await.unwrap();
    assert_eq!(world.stat("file").await.unwrap().size, 0);
    file.write(0, b"new").await.unwrap();
    assert_eq!(world.object("file").await.unwrap(), b"old content");
    file.close().await.unwrap();
    assert_eq!(world.object("file").await.unwrap(), b"new");
    let carried = world.other.head("file", None).await.unwrap().headers.metadata;
    assert_eq!(carried.get("mode").map(String::as_str), Some("33261"), "what it carried stays");
    assert_eq!(carried.get("mtime"), None, "but for the time of the old content");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_keeps_what_was_there() {
    let world = World::new(&patient()).await;
    for (key, len) in [("short", 1000), ("large", 12 * MIB), ("empty", 0)] {
        let mut content = pattern(2, len);
        world.put(key, &content).await;
        let file = world.writer(world.ino(key).await, false).await.unwrap();
        let before = world.files.s3().meter().counts();
        file.write(len as u64, b" and more").await.unwrap();
        file.close().await.unwrap();
        content.extend_from_slice(b" and more");
        assert!(world.object(key).await.unwrap() == content, "{key}");
        assert!(world.cat(key).await.unwrap() == content, "{key}");
        let spent = world.files.s3().meter().counts().since(&before);
        assert!(spent.bytes_out < 2 * MIB as u64, "{key}: {} bytes sent", spent.bytes_out);
    }
    assert_eq!(world.server.uploads_open("bucket"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_sync_writing_goes_on() {
    let world = World::new(&patient()).await;
    let content = pattern(3, 30 * MIB);
    let file = world.create("log").await;
    let mut at = 0;
    for part in [100, 5 * MIB, 7 * MIB + 1, 1, 17 * MIB] {
        write_all(&file, at as u64, &content[at..at + part]).await;
        at += part;
        world.files.fsync(file.ino).await.unwrap();
        assert!(world.object("log").await.unwrap() == content[..at], "{at}");
    }
    file.close().await.unwrap();
    assert!(world.object("log").await.unwrap() == content[..at]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_reads_what_is_being_written_reads_it() {
    let world = World::new(&patient()).await;
    let file = world.create("file").await;
    file.write(0, b"first").await.unwrap();
    assert_eq!(world.cat("file").await.unwrap(), b"first");
    file.write(5, b" second").await.unwrap();
    assert_eq!(world.cat("file").await.unwrap(), b"first second");
    file.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_kept_is_refused() {
    let world = World::new(&patient()).await;
    world.put("file", "x").await;
    let attr = world.stat("file").await.unwrap();
    let set = SetAttr { mode: Some(attr.mode), uid: Some(attr.uid), ..SetAttr::default() };
    assert!(world.files.setattr(attr.ino, &set).await.is_ok(), "it is so");
    for set in [
        SetAttr { mode: Some(0o600), ..SetAttr::default() },
        SetAttr { uid: Some(99), ..SetAttr::default() },
        SetAttr { mtime: Some(SetTime::At(attr.mtime)), ..SetAttr::default() },
        SetAttr { atime: Some(SetTime::Now), ..SetAttr::default() },
    ] {
        assert!(matches!(world.files.setattr(attr.ino, &set).await, Err(Error::Unsupported(_))), "{set:?}");
    }
    // `touch` of a new file.
    let file = world.create("new").await;
    let now = SetAttr { mtime: Some(SetTime::Now), atime: Some(SetTime::Now), ..SetAttr::default() };
    world.files.setattr(file.ino, &now).await.unwrap();
    file.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_file_leaves_nothing() {
    for len in [10, 20 * MIB] {
        let world = World::new(&doubting()).await;
        world.server.faults.each("PUT", "/new", S3Fault::Status(403));
        let file = world.create("new").await;
        let mut failed = None;
        for (at, data) in pattern(5, len).chunks(MIB).enumerate() {
            if let Err(error) = file.write((at * MIB) as u64, data).await {
                failed = Some(error);
            }
        }
        let flushed = file.flush().await;
        assert_eq!(failed.unwrap_or(Error::Denied), Error::Denied);
        assert_eq!((flushed, file.flush().await), (Err(Error::Denied), Err(Error::Denied)), "until it is closed");
        assert_eq!(world.files.fsync(file.ino).await, Err(Error::Denied));
        assert!(file.close().await.is_err());
        world.server.faults.end_each();
        assert_eq!((world.keys().await, world.server.uploads_open("bucket")), (vec![], 0), "{len}");
        assert_eq!(world.stat("new").await.err(), Some(Error::NotFound));
        assert_eq!(world.files.status().dirty_bytes, 0);
        // And it can be made again.
        let file = world.create("new").await;
        file.write(0, b"x").await.unwrap();
        file.close().await.unwrap();
        assert_eq!(world.object("new").await.unwrap(), b"x");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_completion_that_fails_is_told_and_leaves_the_old_object() {
    let world = World::new(&doubting()).await;
    world.put("file", "old").await;
    let file = world.writer(world.ino("file").await, true).await.unwrap();
    write_all(&file, 0, &pattern(6, 20 * MIB)).await;
    world.server.faults.each("POST", "uploadId", S3Fault::Status(403));
    assert_eq!(file.close().await, Err(Error::Denied));
    world.server.faults.end_each();
    assert_eq!((world.object("file").await.unwrap(), world.server.uploads_open("bucket")), (b"old".to_vec(), 0));
    assert_eq!(world.cat("file").await.unwrap(), b"old");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_in_an_answer_of_200_is_no_success() {
    let world = World::new(&doubting()).await;
    let content = pattern(7, 20 * MIB);
    let file = world.create("file").await;
    write_all(&file, 0, &content).await;
    world.server.faults.next("POST", "uploadId", S3Fault::OkWithError);
    file.close().await.unwrap();
    assert!(world.object("file").await.unwrap() == content, "it was tried again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
    for len in [10, 20 * MIB] {
        let world = World::new(&patient()).await;
        world.put("file", "old").await;
        let file = world.writer(world.ino("file").await, true).await.unwrap();
        write_all(&file, 0, &pattern(8, len)).await;
        world.put("file", "of somebody else").await;
        assert_eq!(file.close().await, Err(Error::Stale));
        assert_eq!(world.object("file").await.unwrap(), b"of somebody else");

        let file = world.create("new").await;
        write_all(&file, 0, &pattern(9, len)).await;
        world.put("new", "of somebody else").await;
        assert_eq!(file.close().await, Err(Error::Stale));
        assert_eq!(world.object("new").await.unwrap(), b"of somebody else");
        assert_eq!(world.cat("new").await.unwrap(), b"of somebody else");
        assert_eq!(world.server.uploads_open("bucket"), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_was_replaced_is_not_opened_to_write() {
    let world = World::new(&patient()).await;
    world.put("file", "old").await;
    let ino = world.ino("file").await;
    world.put("file", "of somebody else").await;
    assert_eq!(world.writer(ino, false).await.err(), Some(Error::Stale));
    let ino = world.ino("file").await;
    let file = world.writer(ino, false).await.unwrap();
    file.write(16, b"!").await.unwrap();
    file.close().await.unwrap();
    assert_eq!(world.object("file").await.unwrap(), b"of somebody else!");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_files_at_once_need_no_more_memory_than_there_is() {
    let world = World::new(&patient()).await;
    let content = pattern(10, 9 * MIB);
    let files = futures::future::join_all((0..12).map(|n| world.create(Box::leak(format!("f{n}").into_boxed_str()))));
    let files = files.await;
    // In turns, so that none is closed before the others.
    for (at, data) in content.chunks(MIB).enumerate() {
        for file in &files {
            file.write((at * MIB) as u64, data).await.unwrap();
        }
    }
    for (n, file) in files.into_iter().enumerate() {
        file.close().await.unwrap();
        assert!(world.object(&format!("f{n}")).await.unwrap() == content, "f{n}");
    }
    assert_eq!((world.files.status().dirty_bytes, world.server.uploads_open("bucket")), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_keeps_what_it_carries_through_an_append() {
    let world = World::new(&patient()).await;
    let headers = Headers { content_type: Some("text/plain".to_owned()), ..Headers::default() };
    world.other.put("file", pattern(1, 6 * MIB).into(), &headers, &Condition::None).await.unwrap();
    let file = world.writer(world.ino("file").await, false).await.unwrap();
    file.write(6 * MIB as u64, b"more").await.unwrap();
    file.close().await.unwrap();
    assert_eq!(world.other.head("file", None).await.unwrap().headers.content_type.as_deref(), Some("text/plain"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_can_be_set_to_now() {
    let world = World::new(&patient()).await;
    world.put_with("file", "content", &[("mtime", "1609459200")]).await;
    let written = world.other.head("file", None).await.unwrap().modified.unwrap();
    let attr = world.stat("file").await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let now = SetAttr { mtime: Some(SetTime::Now), atime: Some(SetTime::Now), ..SetAttr::default() };
    assert!(world.files.setattr(attr.ino, &now).await.unwrap().mtime > attr.mtime);
    let info = world.other.head("file", None).await.unwrap();
    assert!(info.modified.unwrap() > written && !info.headers.metadata.contains_key("mtime"));
    assert_eq!(world.cat("file").await.unwrap(), b"content");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_carry_attributes_where_they_are_asked_for_them() {
    let options = stoa_bucket::Options { attributes: stoa_bucket::Attributes::Objects, ..patient() };
    let world = World::new(&options).await;
    let at = stoa_vfs::Timestamp { secs: 1_609_459_200, nanos: 7 };
    let set = SetAttr { mode: Some(0o600), uid: Some(99), mtime: Some(SetTime::At(at)), ..SetAttr::default() };
    let looks = |attr: &stoa_vfs::Attr| (attr.mode, attr.uid, attr.mtime, attr.size);
    // Of a file that is being written, of one that was closed, and of one that is open to append.
    for path in ["new", "closed", "open"] {
        let file = world.create(path).await;
        file.write(0, b"content").await.unwrap();
        if path != "new" {
            file.flush().await.unwrap();
        }
        if path == "closed" {
            let ino = file.ino;
            file.close().await.unwrap();
            world.files.setattr(ino, &set).await.unwrap();
        } else {
            assert_eq!(looks(&world.files.setattr(file.ino, &set).await.unwrap()), (0o600, 99, at, 7), "{path}");
            file.close().await.unwrap();
        }
        assert_eq!(looks(&world.stat(path).await.unwrap()), (0o600, 99, at, 7), "{path}");
        let other = world.again(&options);
        let there = crate::world::stat(other.as_ref(), path).await.unwrap();
        assert_eq!(looks(&there), (0o600, 99, at, 7), "{path}");
        // What is written later has a time of its own, and keeps the rest.
        let file = world.writer(world.ino(path).await, false).await.unwrap();
        file.write(7, b"!").await.unwrap();
        file.close().await.unwrap();
        let attr = world.stat(path).await.unwrap();
        assert!((attr.mode, attr.uid, attr.size) == (0o600, 99, 8) && attr.mtime > at, "{attr:?}");
        assert_eq!(world.object(path).await.unwrap(), b"content!");
    }
}
