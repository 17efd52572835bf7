//! Files and directories get other names.

use crate::world::{World, doubting, name, patient};
use std::collections::BTreeMap;
use std::time::Duration;
use stoa_bucket::{Attributes, Options};
use stoa_objects::s3::{Condition, Headers, Storage};
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, Kind, Node, OpenFlags, RenameMode, Result, Vfs};

pub(crate) async fn mv_as(world: &World, from: &str, to: &str, mode: RenameMode) -> Result<()> {
    let (dir, old) = world.place(from).await;
    let (to_dir, new) = world.place(to).await;
    world.files.rename(dir, &old, to_dir, &new, mode).await
}

pub(crate) async fn mv(world: &World, from: &str, to: &str) -> Result<()> {
    mv_as(world, from, to, RenameMode::Replace).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_moves_with_all_that_it_carries() {
    let world = World::new(&patient()).await;
    let headers = Headers {
        content_type: Some("image/jpeg".to_owned()),
        cache_control: Some("no-store".to_owned()),
        metadata: BTreeMap::from([("by".to_owned(), "somebody".to_owned())]),
        storage: Storage { class: Some("STANDARD_IA".to_owned()), encryption: None },
        ..Headers::default()
    };
    world.other.put("dir/old", b"content".to_vec().into(), &headers, &Condition::None).await.unwrap();
    let tags = BTreeMap::from([("one".to_owned(), "1 & 2=3".to_owned())]);
    world.other.put_tags("dir/old", &tags).await.unwrap();
    world.put("other/x", "x").await;
    let ino = world.ino("dir/old").await;
    mv(&world, "dir/old", "other/new").await.unwrap();
    assert_eq!(world.keys().await, ["dir/", "other/new", "other/x"]);
    assert_eq!((world.ls("dir").await, world.ls("other").await), (vec![], vec!["new".to_owned(), "x".to_owned()]));
    assert_eq!(world.ino("other/new").await, ino, "it is the same file");
    assert_eq!(world.cat("other/new").await.unwrap(), b"content");
    assert_eq!(world.other.head("other/new", None).await.unwrap().headers, headers);
    assert_eq!(world.other.get_tags("other/new").await.unwrap(), tags);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_too_long_for_one_copy_is_copied_in_parts() {
    let options = Options { copy_bytes_max: 20 << 20, ..patient() };
    let world = World::new(&options).await;
    let content: Vec<u8> = (0..33 << 20).map(|at: u32| (at >> 12) as u8 ^ at as u8).collect();
    world.put_with("old", &content, &[("by", "somebody")]).await;
    let tags = BTreeMap::from([("a b".to_owned(), "c&d".to_owned())]);
    world.other.put_tags("old", &tags).await.unwrap();
    mv(&world, "old", "new").await.unwrap();
    assert!(world.object("new").await.unwrap() == content);
    assert_eq!(world.keys().await, ["new"]);
    let info = world.other.head("new", None).await.unwrap();
    assert_eq!(info.headers.metadata["by"], "somebody");
    assert!(info.etag.unwrap().ends_with("-6\""), "in parts of 5 MiB at least");
    assert_eq!(world.other.get_tags("new").await.unwrap(), tags);
    // Nor does one that fails leave anything.
    world.server.faults.next("PUT", "partNumber=3", S3Fault::Status(403));
    assert_eq!(mv(&world, "new", "newer").await, Err(Error::Denied));
    assert_eq!((world.keys().await, world.server.uploads_open("bucket")), (vec!["new".to_owned()], 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_replaces_only_what_was_last_seen() {
    let world = World::new(&patient()).await;
    world.put_all(&["a", "b", "c"]).await;
    world.ls("").await;
    mv(&world, "a", "b").await.unwrap();
    assert_eq!(
        (world.keys().await, world.object("b").await.unwrap()),
        (vec!["b".to_owned(), "c".to_owned()], b"a".to_vec())
    );
    assert_eq!(mv_as(&world, "b", "c", RenameMode::NoReplace).await, Err(Error::Exists));
    assert_eq!(mv_as(&world, "b", "c", RenameMode::Exchange).await.unwrap_err().errno(), libc::ENOTSUP);
    // What was seen of them is of before.
    world.put("c", "of somebody else").await;
    assert_eq!(mv(&world, "b", "c").await, Err(Error::Stale));
    assert_eq!(world.object("c").await.unwrap(), b"of somebody else");
    assert_eq!(world.ls("").await, ["b", "c"]);
    world.put("b", "of somebody else, too").await;
    assert_eq!(mv(&world, "b", "d").await, Err(Error::Stale));
    assert_eq!(world.keys().await, ["b", "c"]);
    // It is looked at anew then.
    mv(&world, "b", "c").await.unwrap();
    assert_eq!(world.object("c").await.unwrap(), b"of somebody else, too");
    assert_eq!(world.ls("").await, ["c"]);
    world.put("new", "of somebody else").await;
    assert_eq!(mv(&world, "c", "new").await, Err(Error::Stale));
    assert_eq!((world.keys().await.len(), world.object("new").await.unwrap()), (2, b"of somebody else".to_vec()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_a_file_open_goes_on_with_it() {
    let world = World::new(&patient()).await;
    world.put("old", vec![7; 3 << 20]).await;
    let attr = world.stat("old").await.unwrap();
    let reading = world.files.open(attr.ino, OpenFlags::default()).await.unwrap();
    assert_eq!(world.files.read(attr.ino, reading, 0, 1000).await.unwrap().concat(), [7; 1000]);
    let writing = world.writer(attr.ino, false).await.unwrap();
    writing.write(3 << 20, b"more").await.unwrap();
    mv(&world, "old", "new").await.unwrap();
    let size = world.stat("new").await.unwrap().size;
    assert_eq!((world.keys().await, size), (vec!["new".to_owned()], (3 << 20) + 4));
    assert_eq!(world.files.read(attr.ino, reading, 3 << 20, 10).await.unwrap().concat(), b"more");
    writing.write(size, b" and more").await.unwrap();
    mv(&world, "new", "newer").await.unwrap();
    writing.write(size + 9, b"!").await.unwrap();
    writing.close().await.unwrap();
    assert_eq!(world.keys().await, ["newer"]);
    assert_eq!(&world.object("newer").await.unwrap()[3 << 20..], b"more and more!");
    assert_eq!(world.files.read(attr.ino, reading, (3 << 20) - 1, 100).await.unwrap().concat(), b"\x07more and more!");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_moves_before_it_is_stored() {
    let world = World::new(&patient()).await;
    world.put("dir/x", "x").await;
    let file = world.create("tmp").await;
    file.write(0, b"con").await.unwrap();
    let before = world.server.faults.requests();
    mv(&world, "tmp", "dir/saved").await.unwrap();
    assert!(world.server.faults.requests() - before <= 6, "nothing of it is in the store");
    assert_eq!((world.ls("dir").await, world.ls("").await), (vec!["saved".into(), "x".into()], vec!["dir".to_owned()]));
    file.write(3, b"tent").await.unwrap();
    file.close().await.unwrap();
    assert_eq!(
        (world.keys().await, world.object("dir/saved").await.unwrap()),
        (vec!["dir/saved".into(), "dir/x".into()], b"content".to_vec())
    );
    // Where there is another, it is stored first.
    let file = world.create("tmp").await;
    file.write(0, b"next").await.unwrap();
    mv(&world, "tmp", "dir/saved").await.unwrap();
    assert_eq!(
        (world.keys().await, world.object("dir/saved").await.unwrap()),
        (vec!["dir/saved".into(), "dir/x".into()], b"next".to_vec())
    );
    file.close().await.unwrap();
    // And over one that is not stored.
    let (file, over) = (world.create("tmp").await, world.create("over").await);
    over.write(0, b"lost").await.unwrap();
    file.write(0, b"kept").await.unwrap();
    mv(&world, "tmp", "over").await.unwrap();
    over.close().await.unwrap();
    file.close().await.unwrap();
    assert_eq!((world.object("over").await.unwrap(), world.object("tmp").await), (b"kept".to_vec(), None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_may_not_be_removed_stays_where_it_was() {
    let world = World::new(&patient()).await;
    world.put_all(&["a", "b"]).await;
    world.server.faults.each("DELETE", "/a", S3Fault::Status(403));
    assert_eq!(mv(&world, "a", "c").await, Err(Error::Denied));
    assert_eq!(
        (world.keys().await, world.ls("").await),
        (vec!["a".to_owned(), "b".into()], vec!["a".to_owned(), "b".into()])
    );
    assert_eq!(world.cat("a").await.unwrap(), b"a");
    world.server.faults.end_each();
    mv(&world, "a", "c").await.unwrap();
    assert_eq!(world.keys().await, ["b", "c"]);
}

/// Of a removal that took effect, and of which only the answer was lost, the next attempt may be refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_stays_when_the_original_is_gone() {
    for replaced in [None, Some("of somebody else")] {
        let world = World::new(&patient()).await;
        world.put("a", "a").await;
        world.ls("").await;
        world.server.faults.next("DELETE", "/a", S3Fault::DropAfter);
        world.server.faults.next("DELETE", "/a", S3Fault::Status(403));
        if let Some(replaced) = replaced {
            world.server.faults.next("HEAD", "/a", S3Fault::Delay(Duration::ZERO));
            world.server.faults.next("HEAD", "/a", S3Fault::Delay(Duration::from_millis(500)));
            let moving = mv(&world, "a", "c");
            let replacing = async {
                while !(world.object("c").await.is_some() && world.object("a").await.is_none()) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                world.put("a", replaced).await;
            };
            tokio::join!(moving, replacing).0.unwrap();
            assert_eq!(world.object("a").await.unwrap(), replaced.as_bytes());
        } else {
            mv(&world, "a", "c").await.unwrap();
            assert_eq!(world.ls("").await, ["c"]);
        }
        assert_eq!((world.object("c").await.unwrap(), world.server.faults.pending()), (b"a".to_vec(), 0));
        assert_eq!(world.cat("c").await.unwrap(), b"a");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_a_file_moves_where_objects_are_asked() {
    let world = World::new(&Options { attributes: Attributes::Objects, ..patient() }).await;
    world.put("old", "x").await;
    let before = world.stat("old").await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    mv(&world, "old", "new").await.unwrap();
    let files = world.again(&Options { attributes: Attributes::Objects, ..doubting() });
    let after = files.lookup(stoa_vfs::Ino::ROOT, &name("new")).await.unwrap().attr;
    assert_eq!((after.mtime, after.kind), (before.mtime, Kind::Regular));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kinds_are_what_rename_says() {
    let world = World::new(&doubting()).await;
    world.put_all(&["file", "full/x"]).await;
    world.make("empty", Node::Directory).await.unwrap();
    assert_eq!(mv(&world, "file", "empty").await, Err(Error::IsDirectory));
    assert_eq!(mv(&world, "empty", "file").await, Err(Error::NotDirectory));
    assert_eq!(mv(&world, "empty", "full").await, Err(Error::NotEmpty));
    assert!(matches!(mv(&world, "full", "full/below").await, Err(Error::Invalid(_))));
    assert_eq!(mv(&world, "missing", "x").await, Err(Error::NotFound));
    let journal = format!(".stoa-rename-{}", "a".repeat(32));
    assert!(matches!(mv(&world, "file", &journal).await, Err(Error::Invalid(_))));
    mv(&world, "full", "full").await.unwrap();
    mv(&world, "full", "empty").await.unwrap();
    assert_eq!(world.keys().await, ["empty/", "empty/x", "file"]);
}
