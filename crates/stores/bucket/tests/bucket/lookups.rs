//! Lookups of single names: what they cost, and what may be refused.

use crate::world::{FREE, World, doubting, lists, patient};
use std::time::Duration;
use stoa_bucket::{Attributes, Options};
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, Kind};

#[tokio::test]
async fn a_name_nobody_listed_costs_one_list_once() {
    let world = World::new(&patient()).await;
    world.put_all(&["cat", "photos/dog", "both", "both/x"]).await;
    for (path, kind) in
        [("cat", Kind::Regular), ("photos", Kind::Directory), ("both", Kind::Directory), ("both%@file", Kind::Regular)]
    {
        let (found, cost) = world.cost(world.stat(path)).await;
        assert_eq!((found.unwrap().kind, cost), (kind, lists(1)), "{path}");
        assert_eq!(world.cost(world.stat(path)).await.1, FREE, "{path}");
    }
    assert_eq!(world.cost(world.stat("none")).await, (Err(Error::NotFound), lists(1)));
    assert_eq!(world.cost(world.stat("none")).await, (Err(Error::NotFound), FREE));
    // No server has such a key.
    assert_eq!(world.cost(world.stat(&format!("photos/{}", "x".repeat(255)))).await.1, lists(1));
}

#[tokio::test]
async fn many_names_may_come_between_an_object_and_its_directory() {
    let world = World::new(&patient()).await;
    let between: Vec<_> = (0..150).map(|number| format!("both!{number}")).collect();
    world.put_all(&between.iter().map(String::as_str).collect::<Vec<_>>()).await;
    world.put_all(&["both", "both/x"]).await;
    let (found, cost) = world.cost(world.stat("both")).await;
    assert_eq!((found.unwrap().kind, cost), (Kind::Directory, lists(2)));
    assert_eq!(world.stat("both%@file").await.unwrap().kind, Kind::Regular);
    assert_eq!(world.stat("both!149").await.unwrap().kind, Kind::Regular);
}

#[tokio::test]
async fn names_that_go_on_hide_neither_file_nor_directory() {
    let world = World::new(&patient()).await;
    world.put_all(&["a.1", "a.3", "a/below", "b-", "b.x/y", "c0", "d"]).await;
    assert_eq!(world.stat("a").await.unwrap().kind, Kind::Directory);
    for none in ["b", "c", "a.4x", "b."] {
        assert_eq!(world.stat(none).await.err(), Some(Error::NotFound), "{none}");
    }
    assert_eq!(world.cat("d").await.unwrap(), b"d");
    assert_eq!(world.cat("a.3").await.unwrap(), b"a.3");
}

#[tokio::test]
async fn an_answer_is_believed_for_its_time() {
    let world = World::new(&Options { ttl: Duration::from_millis(400), ..patient() }).await;
    assert!(world.stat("cat").await.is_err());
    world.put("cat", "x").await;
    tokio::time::sleep(Duration::from_millis(250)).await;
    let one = world.stat("cat").await.unwrap();
    world.put("cat", "longer").await;
    tokio::time::sleep(Duration::from_millis(250)).await;
    let other = world.stat("cat").await.unwrap();
    assert_eq!((one.size, other.size), (1, 6));
    assert_ne!(one.ino, other.ino, "another content is another inode");
}

#[tokio::test]
async fn with_no_time_to_live_every_change_is_seen() {
    let world = World::new(&doubting()).await;
    assert!(world.stat("cat").await.is_err());
    world.put("cat", "x").await;
    assert_eq!(world.stat("cat").await.unwrap().size, 1);
    world.put("cat/below", "x").await;
    assert_eq!(world.stat("cat").await.unwrap().kind, Kind::Directory);
    world.other.delete("cat", None, None).await.unwrap();
    world.other.delete("cat/below", None, None).await.unwrap();
    assert_eq!(world.stat("cat").await.err(), Some(Error::NotFound));
}

#[tokio::test]
async fn without_the_right_to_list_a_known_key_is_opened() {
    let world = World::new(&doubting()).await;
    world.put_all(&["cat", "photos/dog"]).await;
    world.server.faults.each("GET", "list-type=2", S3Fault::Status(403));
    assert_eq!(world.cat("cat").await.unwrap(), b"cat");
    assert_eq!(world.stat("photos").await.err(), Some(Error::Denied), "whether there is a directory can't be known");
    assert_eq!(world.stat("none").await.err(), Some(Error::Denied));
    let listed =
        stoa_vfs::Vfs::readdir(world.files.as_ref(), stoa_vfs::Ino::ROOT, stoa_vfs::Cookie::START, 10, false).await;
    assert_eq!(listed, Err(Error::Denied));
}

#[tokio::test]
async fn with_the_right_to_list_alone_names_are_seen_and_not_read() {
    for attributes in [Attributes::Listing, Attributes::Objects] {
        let world = World::new(&Options { attributes, ..doubting() }).await;
        world.put_all(&["cat", "photos/dog"]).await;
        world.server.faults.each("HEAD", "", S3Fault::Status(403));
        world.server.faults.each("GET", "/cat", S3Fault::Status(403));
        assert_eq!(world.ls("").await, ["cat", "photos"]);
        assert_eq!(world.stat("cat").await.unwrap().size, 3);
        assert_eq!(world.stat("none").await.err(), Some(Error::NotFound));
        assert_eq!(world.ls("photos").await, ["dog"]);
        assert_eq!(world.cat("cat").await.err(), Some(Error::Denied));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_stored_while_its_name_is_looked_up_is_found_as_that() {
    let world = World::new(&Options { ttl: Duration::from_millis(20), ..patient() }).await;
    world.put("a", "old").await;
    // So many that the directory `a/` is asked for after the object was seen.
    for n in 0..150 {
        world.put(&format!("a.{n:03}"), "").await;
    }
    let file = world.writer(world.ino("a").await, true).await.unwrap();
    file.write(0, b"changed").await.unwrap();
    tokio::time::sleep(Duration::from_millis(30)).await;
    for delay in [0, 300] {
        world.server.faults.next("GET", "list-type=2", S3Fault::Delay(Duration::from_millis(delay)));
    }
    let storing = async {
        while world.server.faults.pending() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let ino = file.ino;
        file.close().await.unwrap();
        ino
    };
    let (found, ino) = tokio::join!(world.stat("a"), storing);
    let found = found.unwrap();
    assert_eq!((found.ino, found.size), (ino, 7));
}
