//! Opening a file whose object somebody else has changed since its name was looked at.

use crate::world::{Cost, FREE, World, lists, patient, read};
use std::time::Duration;
use stoa_bucket::Options;
use stoa_objects::testing::S3Fault;
use stoa_vfs::{Attr, Error, OpenFlags, Result, Vfs};

const GET: Cost = Cost { gets: 1, ..FREE };

async fn cat(world: &World, attr: &Attr) -> Result<Vec<u8>> {
    read(world.files.as_ref(), attr.clone()).await
}

/// Opens it and gives it back.
async fn open(world: &World, attr: &Attr) -> Result<()> {
    let handle = world.files.open(attr.ino, OpenFlags::default()).await?;
    world.files.release(attr.ino, handle).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_opened_and_read_with_one_request_once() {
    let world = World::new(&patient()).await;
    for (path, len) in [("small", 10), ("pieces", 300_000), ("whole", 1 << 20)] {
        let content = vec![7; len];
        world.put(path, &content).await;
        let attr = world.stat(path).await.unwrap();
        assert_eq!(world.cost(cat(&world, &attr)).await, (Ok(content.clone()), GET), "{path}");
        assert_eq!(world.cost(cat(&world, &attr)).await, (Ok(content), FREE), "{path}");
    }
    world.put("empty", "").await;
    let attr = world.stat("empty").await.unwrap();
    assert_eq!(world.cost(cat(&world, &attr)).await, (Ok(Vec::new()), FREE));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_long_file_the_start_is_fetched_when_it_is_opened() {
    let world = World::new(&patient()).await;
    world.put("long", vec![7; 8 << 20]).await;
    let attr = world.stat("long").await.unwrap();
    let before = world.files.s3().meter().counts();
    assert_eq!(world.cost(open(&world, &attr)).await, (Ok(()), GET));
    let spent = world.files.s3().meter().counts().since(&before);
    assert!(spent.bytes_in <= 300 << 10, "{} bytes", spent.bytes_in);
    assert_eq!(world.cost(open(&world, &attr)).await, (Ok(()), FREE));
    // Enough for what the kernel asks for first.
    let handle = world.files.open(attr.ino, OpenFlags::default()).await.unwrap();
    let ((), cost) =
        world.cost(async { drop(world.files.read(attr.ino, handle, 100_000, 100_000).await.unwrap()) }).await;
    assert_eq!(cost, FREE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_was_replaced_is_found_out_when_it_is_opened() {
    for len in [7, 2 << 20] {
        let world = World::new(&patient()).await;
        let new = vec![b'n'; len + 1];
        world.put_all(&["dir/file", "dir/other"]).await;
        world.put("dir/file", vec![b'o'; len]).await;
        world.ls("dir").await;
        let old = world.stat("dir/file").await.unwrap();
        world.put("dir/file", &new).await;
        assert_eq!(world.cost(world.stat("dir/file")).await, (Ok(old.clone()), FREE), "believed");
        assert_eq!(world.cost(open(&world, &old)).await, (Err(Error::Stale), GET));
        assert_eq!(world.cost(open(&world, &old)).await, (Err(Error::Stale), FREE));
        // What the kernel does then.
        let (found, cost) = world.cost(world.stat("dir/file")).await;
        let found = found.unwrap();
        assert_eq!((found.size, cost), (new.len() as u64, lists(1)));
        assert!(found.ino != old.ino && cat(&world, &found).await.unwrap() == new);
        // Of other names it is believed what it was.
        assert_eq!(world.cost(world.stat("dir/other")).await.1, FREE);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_was_removed_is_found_out_when_it_is_opened() {
    let world = World::new(&patient()).await;
    world.put_all(&["read", "written"]).await;
    world.ls("").await;
    let attr = world.stat("read").await.unwrap();
    world.other.delete("read", None, None).await.unwrap();
    assert_eq!(open(&world, &attr).await, Err(Error::Stale));
    assert_eq!(world.cost(world.stat("read")).await, (Err(Error::NotFound), lists(1)));
    // Opening it to write finds that out as well, and the kernel then makes the file.
    let attr = world.stat("written").await.unwrap();
    world.other.delete("written", None, None).await.unwrap();
    assert_eq!(world.writer(attr.ino, false).await.err(), Some(Error::Stale));
    assert_eq!(world.stat("written").await, Err(Error::NotFound));
    assert!(world.ls("").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_may_not_be_read_is_not_opened() {
    let world = World::new(&patient()).await;
    world.put("file", "content").await;
    let attr = world.stat("file").await.unwrap();
    world.server.faults.each("GET", "/file", S3Fault::Status(403));
    assert_eq!(open(&world, &attr).await, Err(Error::Denied));
    world.server.faults.end_each();
    assert_eq!(cat(&world, &attr).await.unwrap(), b"content", "it was not given up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_written_here_is_opened_without_a_request() {
    let world = World::new(&patient()).await;
    world.put("file", "content").await;
    let writing = world.editor(world.ino("file").await).await.unwrap();
    writing.write(0, b"C").await.unwrap();
    let attr = world.stat("file").await.unwrap();
    assert_eq!(world.cost(open(&world, &attr)).await, (Ok(()), FREE));
    writing.close().await.unwrap();
    assert_eq!(world.cost(open(&world, &attr)).await, (Ok(()), FREE), "the kernel may have what was stored here");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_known_under_its_new_name() {
    let world = World::new(&patient()).await;
    world.put("old", "content").await;
    let attr = world.stat("old").await.unwrap();
    open(&world, &attr).await.unwrap();
    let (root, old, new) = (stoa_vfs::Ino::ROOT, crate::world::name("old"), crate::world::name("new"));
    world.files.rename(root, &old, root, &new, stoa_vfs::RenameMode::Replace).await.unwrap();
    assert_eq!(world.cost(open(&world, &attr)).await, (Ok(()), FREE));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_who_open_a_file_at_once_make_one_request() {
    let world = World::new(&Options { ttl: Duration::from_secs(60), ..patient() }).await;
    world.put("file", "content").await;
    let attr = world.stat("file").await.unwrap();
    world.server.faults.next("GET", "/file", S3Fault::Delay(Duration::from_millis(200)));
    let all = futures::future::join_all((0..8).map(|_| cat(&world, &attr)));
    let (read, cost) = world.cost(all).await;
    assert!(read.iter().all(|read| read.as_deref() == Ok(b"content".as_slice())), "{read:?}");
    assert_eq!(cost, GET);
}
