//! Names that come and go.

use crate::world::{FREE, World, doubting, lists, patient};
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Error, Kind, Node, Result, Vfs};

async fn unlink(world: &World, path: &str) -> Result<()> {
    let (dir, name) = world.place(path).await;
    world.files.unlink(dir, &name).await
}

async fn rmdir(world: &World, path: &str) -> Result<()> {
    let (dir, name) = world.place(path).await;
    world.files.rmdir(dir, &name).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_are_made_and_removed() {
    for options in [patient(), doubting()] {
        let world = World::new(&options).await;
        world.ls("").await;
        world.make("dir", Node::Directory).await.unwrap();
        assert_eq!(world.make("dir", Node::Directory).await, Err(Error::Exists));
        assert_eq!(world.keys().await, ["dir/"]);
        assert_eq!(
            world.other.head("dir/", None).await.unwrap().headers.content_type.unwrap(),
            "application/x-directory"
        );
        assert_eq!((world.ls("").await, world.ls("dir").await.len()), (vec!["dir".to_owned()], 0));
        let file = world.create("dir/file").await;
        assert_eq!(rmdir(&world, "dir").await, Err(Error::NotEmpty), "though it is not in the store yet");
        file.write(0, b"x").await.unwrap();
        file.close().await.unwrap();
        assert_eq!(rmdir(&world, "dir").await, Err(Error::NotEmpty));
        assert_eq!(rmdir(&world, "dir/file").await, Err(Error::NotDirectory));
        assert_eq!(unlink(&world, "dir").await, Err(Error::IsDirectory));
        unlink(&world, "dir/file").await.unwrap();
        assert_eq!(unlink(&world, "dir/file").await, Err(Error::NotFound));
        rmdir(&world, "dir").await.unwrap();
        assert_eq!((world.keys().await, world.ls("").await), (vec![], vec![]));
        assert_eq!(world.stat("dir").await.err(), Some(Error::NotFound));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_does_not_go_with_its_last_file() {
    let world = World::new(&patient()).await;
    world.put_all(&["a/b/file", "a/other"]).await;
    assert_eq!(world.ls("a/b").await, ["file"]);
    unlink(&world, "a/b/file").await.unwrap();
    assert_eq!(world.keys().await, ["a/b/", "a/other"]);
    assert!(world.ls("a/b").await.is_empty());
    rmdir(&world, "a/b").await.unwrap();
    unlink(&world, "a/other").await.unwrap();
    assert_eq!(world.keys().await, ["a/"]);
    assert_eq!(world.stat("a").await.unwrap().kind, Kind::Directory);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_listed_is_removed_without_another_look() {
    let world = World::new(&patient()).await;
    let names: Vec<_> = (0..20).map(|number| format!("dir/{number}")).collect();
    world.put_all(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(world.ls("dir").await.len(), 20);
    let all_but_one = async {
        for name in &names[1..] {
            unlink(&world, name).await.unwrap();
            assert_eq!(world.stat(name).await.err(), Some(Error::NotFound));
        }
    };
    assert_eq!(world.cost(all_but_one).await.1, FREE);
    let last = world.cost(unlink(&world, &names[0])).await;
    assert_eq!(last, (Ok(()), lists(1)), "whether the directory is empty is asked");
    assert_eq!(world.keys().await, ["dir/"]);
    assert!(world.ls("dir").await.is_empty());
    // Its marker was listed: it stays, whatever goes.
    world.create(&names[0]).await.close().await.unwrap();
    world.stat(&names[0]).await.unwrap();
    assert_eq!(world.cost(unlink(&world, &names[0])).await, (Ok(()), FREE));
    assert_eq!(world.cost(rmdir(&world, "dir")).await, (Ok(()), lists(1)));
    assert_eq!(world.keys().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_was_made_here_is_known() {
    let world = World::new(&patient()).await;
    world.ls("").await;
    let make = async {
        world.make("dir", Node::Directory).await.unwrap();
        for number in 0..20 {
            let file = world.create(&format!("dir/{number}")).await;
            file.write(0, b"x").await.unwrap();
            file.close().await.unwrap();
        }
    };
    assert_eq!(world.cost(make).await.1, FREE);
    assert_eq!(world.ls("dir").await.len(), 20);
    // What was said of it before it was removed says nothing of it when it is made again.
    for number in 0..20 {
        unlink(&world, &format!("dir/{number}")).await.unwrap();
    }
    rmdir(&world, "dir").await.unwrap();
    world.make("dir", Node::Directory).await.unwrap();
    assert!(world.ls("dir").await.is_empty());
    assert_eq!(world.stat("dir/3").await.err(), Some(Error::NotFound));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_was_replaced_is_not_removed() {
    let world = World::new(&patient()).await;
    world.put("file", "old").await;
    world.ls("").await;
    world.put("file", "of somebody else").await;
    assert_eq!(unlink(&world, "file").await, Err(Error::Stale));
    assert_eq!(world.object("file").await.unwrap(), b"of somebody else");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_removal_removes_nothing() {
    let world = World::new(&doubting()).await;
    world.put("file", "x").await;
    world.server.faults.each("DELETE", "", S3Fault::Status(403));
    assert_eq!(unlink(&world, "file").await, Err(Error::Denied));
    assert_eq!(world.cat("file").await.unwrap(), b"x");
    world.make("dir", Node::Directory).await.unwrap();
    assert_eq!(rmdir(&world, "dir").await, Err(Error::Denied));
    assert_eq!(world.ls("").await, ["dir", "file"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_beside_a_directory_is_removed_alone() {
    let world = World::new(&doubting()).await;
    world.put_all(&["both", "both/below"]).await;
    unlink(&world, "both%@file").await.unwrap();
    assert_eq!((world.keys().await, world.ls("").await), (vec!["both/below".to_owned()], vec!["both".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_no_key_has_are_refused() {
    let world = World::new(&doubting()).await;
    for name in [&b"\xff"[..], b"a%@", b"%@-a", b"a%@file", b"%@+"] {
        let name = stoa_vfs::Name::new(name.to_vec()).unwrap();
        let make = stoa_vfs::Make { node: Node::Regular, mode: 0, umask: 0 };
        let made = world.files.make(stoa_vfs::Caller::ROOT, stoa_vfs::Ino::ROOT, &name, &make).await;
        assert!(matches!(made, Err(Error::Invalid(_))), "{name}: {made:?}");
    }
    // But any name of a key is made as that key.
    for (name, key) in [("%@-.", "."), ("%@-", "/x"), ("%@@", "%@")] {
        let path = if key == "/x" {
            world.make(name, Node::Directory).await.map(|_| format!("{name}/x"))
        } else {
            Ok(name.to_owned())
        };
        world.create(&path.unwrap()).await.close().await.unwrap();
        assert!(world.keys().await.contains(&key.to_owned()), "{key}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_removed_while_it_is_written() {
    let world = World::new(&patient()).await;
    world.put("old", "x").await;
    for path in ["new", "old"] {
        let file = match path {
            "new" => world.create(path).await,
            _ => world.writer(world.ino(path).await, false).await.unwrap(),
        };
        let size = world.stat(path).await.unwrap().size;
        file.write(size, &vec![7; 20 << 20]).await.unwrap();
        unlink(&world, path).await.unwrap();
        assert_eq!(world.stat(path).await.err(), Some(Error::NotFound), "{path}");
        file.write(size + (20 << 20), b"to nobody").await.unwrap();
        // Another of that name is another file.
        let next = world.create(path).await;
        next.write(0, b"next").await.unwrap();
        file.close().await.unwrap();
        assert_eq!(world.object(path).await, None, "{path}");
        next.close().await.unwrap();
        assert_eq!(world.object(path).await.unwrap(), b"next", "{path}");
        assert_eq!((world.server.uploads_open("bucket"), world.files.status().dirty_bytes), (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_directory_takes_no_names() {
    let world = World::new(&patient()).await;
    let dir = world.make("dir", Node::Directory).await.unwrap();
    rmdir(&world, "dir").await.unwrap();
    let make = stoa_vfs::Make { node: Node::Regular, mode: 0, umask: 0 };
    let made = world.files.make(stoa_vfs::Caller::ROOT, dir, &crate::world::name("file"), &make).await;
    assert_eq!(made, Err(Error::NotFound));
    world.make("dir", Node::Directory).await.unwrap();
    world.create("dir/file").await.close().await.unwrap();
    assert_eq!(world.keys().await, ["dir/", "dir/file"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_removed_while_it_is_stored_is_gone() {
    let world = World::new(&patient()).await;
    for round in 0..50 {
        let name = format!("file-{round}");
        let file = world.create(&name).await;
        // As a shell makes it: closed before anything was written, and stored when it is given back.
        let (ino, handle) = (file.ino, file.handle);
        world.files.flush(ino, handle).await.unwrap();
        let (removed, ()) = futures::join!(unlink(&world, &name), world.files.release(ino, handle));
        removed.unwrap();
        assert!(world.object(&name).await.is_none(), "{name} is there");
        assert_eq!(world.stat(&name).await.err(), Some(Error::NotFound));
    }
    assert_eq!(world.keys().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_file_that_cant_be_stored_keeps_no_other_from_it() {
    let world = World::new(&patient()).await;
    let mut files = Vec::new();
    for number in 0..8 {
        let file = world.create(&format!("file-{number}")).await;
        file.write(0, b"content").await.unwrap();
        files.push(file);
    }
    world.server.faults.each("PUT", "file-3", S3Fault::Status(403));
    assert_eq!(world.files.sync().await, Err(Error::Denied));
    assert_eq!(world.keys().await.len(), 7);
}
