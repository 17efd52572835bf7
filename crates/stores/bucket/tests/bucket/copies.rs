//! Whole files that the server copies, and those that it does not.

use crate::world::{World, Writer, patient};
use crate::writes::{MIB, pattern, write_all};
use stoa_objects::Verb;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, Result, Vfs};

const LEN: usize = 20 * MIB + 7;

/// As `cp` does it: as much as there is.
async fn copy(world: &World, from: &str, to: &Writer) -> Result<u64> {
    world.files.copy_range(world.ino(from).await, 0, to.ino, 0, 1 << 60).await
}

fn is_refused(copied: &Result<u64>) -> bool {
    matches!(copied, Err(Error::Unsupported(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_file_is_copied_by_the_server() {
    let world = World::new(&patient()).await;
    let content = pattern(1, LEN);
    world.put_with("from", &content, &[("mode", "33188"), ("project", "x")]).await;
    world.put("there", b"before").await;
    let (new, there) = (world.create("new.txt").await, world.writer(world.ino("there").await, true).await.unwrap());
    for to in [&new, &there] {
        let before = world.files.s3().meter().counts();
        assert_eq!(copy(&world, "from", to).await, Ok(LEN as u64));
        let spent = world.files.s3().meter().counts().since(&before);
        assert_eq!((spent.of(Verb::Get), spent.of(Verb::Put), spent.of(Verb::Part)), (0, 0, 1), "{spent:?}");
        assert!(spent.bytes_in < 100_000 && spent.bytes_out < 100_000, "{spent:?}");
    }
    for (key, file) in [("new.txt", new), ("there", there)] {
        assert!(world.object(key).await.unwrap() == content, "{key}");
        assert_eq!(world.stat(key).await.unwrap().size, LEN as u64);
        assert_eq!(file.write(5, b"changed").await, Ok(()), "and goes on being written");
        file.close().await.unwrap();
        let mut expected = content.clone();
        expected[5..12].copy_from_slice(b"changed");
        assert!(world.object(key).await.unwrap() == expected && world.cat(key).await.unwrap() == expected, "{key}");
    }
    let info = world.other.head("new.txt", None).await.unwrap();
    assert_eq!(info.headers.content_type.as_deref(), Some("text/plain"), "by its own name");
    assert!(!info.headers.metadata.contains_key("project"), "nothing of the other's: {:?}", info.headers.metadata);
    assert!(world.object("from").await.unwrap() == content);
    assert_eq!(world.server.uploads_open("bucket"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_can_not_copy_is_left_to_who_asks() {
    let world = World::new(&patient()).await;
    let content = pattern(2, LEN);
    world.put("from", &content).await;
    world.put("short", b"short").await;
    let (from, to) = (world.ino("from").await, world.create("to").await);
    assert!(is_refused(&world.files.copy_range(from, 1, to.ino, 0, 1 << 60).await), "from the middle");
    assert!(is_refused(&world.files.copy_range(from, 0, to.ino, 1, 1 << 60).await), "into the middle");
    assert!(is_refused(&world.files.copy_range(from, 0, to.ino, 0, LEN as u64 - 1).await), "not all of it");
    assert!(is_refused(&copy(&world, "short", &to).await), "one that is sent as fast");
    assert_eq!(world.files.copy_range(from, LEN as u64, to.ino, 0, 1).await, Ok(0), "after the end");
    to.write(0, b"x").await.unwrap();
    assert!(is_refused(&copy(&world, "from", &to).await), "over what was written");
    to.close().await.unwrap();
    let unopened = world.ino("short").await;
    assert!(is_refused(&world.files.copy_range(from, 0, unopened, 0, 1 << 60).await), "into one that nobody writes");
    let (editor, to) = (world.editor(from).await.unwrap(), world.create("other").await);
    editor.write(3, b"y").await.unwrap();
    assert!(is_refused(&copy(&world, "from", &to).await), "what the store does not have yet");
    editor.close().await.unwrap();
    assert_eq!(copy(&world, "from", &to).await, Ok(LEN as u64));
    to.close().await.unwrap();
    assert_eq!(world.object("other").await, world.object("from").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_fails_leaves_a_file_to_write() {
    let world = World::new(&patient()).await;
    let content = pattern(3, LEN);
    world.put("from", &content).await;
    let to = world.create("to").await;
    world.server.faults.each("PUT", "/to", S3Fault::Status(403));
    assert!(is_refused(&copy(&world, "from", &to).await));
    world.server.faults.end_each();
    assert_eq!((world.object("to").await, world.server.uploads_open("bucket")), (None, 0));
    write_all(&to, 0, &content).await;
    to.close().await.unwrap();
    assert!(world.object("to").await.unwrap() == content);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_copy_of_what_somebody_else_has_put_there_since() {
    let world = World::new(&patient()).await;
    world.put("from", pattern(4, LEN)).await;
    world.ino("from").await;
    world.put("from", pattern(5, LEN)).await;
    let to = world.create("to").await;
    assert!(is_refused(&copy(&world, "from", &to).await), "who reads it is told that it is another");
    to.close().await.unwrap();
    assert_eq!(world.object("to").await.unwrap(), b"");
}
