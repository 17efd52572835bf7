use super::*;
use crate::Meta;
use bytes::Bytes;
use futures::StreamExt;
use object_store::ObjectStoreExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use std::time::Duration;
use stoa_vfs::{Caller, Cookie, Make, Node};

pub(super) const ROOT: RootOptions = RootOptions { mode: 0o755, uid: 0, gid: 0 };

fn options() -> EngineOptions {
    let hash_key = std::array::from_fn(|index| u8::try_from(index).unwrap());
    EngineOptions { memory_bytes_max: 64 << 20, hash_key, fences: Fences::Sealed }
}

pub(super) async fn open(store: &Arc<dyn ObjectStore>) -> Engine {
    Engine::open(Arc::clone(store), &options()).await.unwrap()
}

/// An engine on a new namespace in memory.
pub(super) async fn engine() -> Engine {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    open(&store).await
}

pub(super) fn name(text: &str) -> Name {
    Name::new(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

/// Makes a regular file in the root.
pub(super) async fn file(engine: &Engine, text: &str) -> Ino {
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    engine.make(Caller::ROOT, Ino::ROOT, &name(text), &make).await.unwrap().ino
}

/// The names of the logs, from the oldest on.
async fn logs(store: &Arc<dyn ObjectStore>) -> Vec<Path> {
    let mut logs: Vec<Path> =
        store.list(Some(&Path::from("meta/wal"))).map(|found| found.unwrap().location).collect().await;
    logs.sort();
    logs
}

/// What was in it would be gone, and what came after it would be there.
#[tokio::test]
async fn a_log_that_has_lost_its_bytes_is_not_passed_over() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let first = open(&store).await;
    file(&first, "a").await;
    first.commit().await.unwrap();
    let emptied = logs(&store).await.pop().unwrap();
    file(&first, "b").await;
    first.commit().await.unwrap();
    assert!(logs(&store).await.last().unwrap() > &emptied, "both are in one log");
    store.put(&emptied, "".into()).await.unwrap();
    let opened = Engine::open(Arc::clone(&store), &options()).await;
    assert!(matches!(&opened, Err(Error::Corrupt(why)) if why.contains(emptied.as_ref())), "{opened:?}");
}

#[tokio::test]
async fn a_second_format_changes_nothing() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let first = open(&store).await;
    let made = file(&first, "a").await;
    first.close().await.unwrap();
    let again = Engine::format(Arc::clone(&store), RootOptions { mode: 0o700, ..ROOT }).await;
    assert!(matches!(again, Err(Error::File(stoa_vfs::Error::Exists))), "{again:?}");
    let second = open(&store).await;
    assert_eq!(second.lookup(Ino::ROOT, &name("a")).await.unwrap().ino, made);
    assert_eq!(second.attr(Ino::ROOT).await.unwrap().mode, 0o755);
    assert_ne!(file(&second, "b").await, made);
}

#[tokio::test]
async fn labels_are_unsupported_until_there_is_one_and_ever_after_only_absent() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let first = open(&store).await;
    let (plain, labelled) = (file(&first, "plain").await, file(&first, "labelled").await);
    let asked = first.getxattr(plain, xattrs::LABEL).await;
    assert!(matches!(asked, Err(Error::File(stoa_vfs::Error::Unsupported(_)))), "{asked:?}");
    let value = Bytes::from_static(b"system_u:object_r:etc_t:s0");
    first.setxattr(labelled, xattrs::LABEL, value.clone(), stoa_vfs::XattrMode::Set, false).await.unwrap();
    first.close().await.unwrap();
    let second = open(&store).await;
    assert_eq!(second.getxattr(labelled, xattrs::LABEL).await.unwrap(), value);
    second.removexattr(labelled, xattrs::LABEL).await.unwrap();
    let asked = second.getxattr(plain, xattrs::LABEL).await;
    assert!(matches!(asked, Err(Error::File(stoa_vfs::Error::NoAttribute))), "{asked:?}");
}

#[tokio::test]
async fn a_cold_listing_locks_nothing_while_it_waits_for_the_store() {
    let store = Arc::new(ThrottledStore::new(InMemory::new(), ThrottleConfig::default()));
    let throttled = Arc::clone(&store);
    let store: Arc<dyn ObjectStore> = store;
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let warm = open(&store).await;
    let mut inodes = Vec::new();
    for number in 0..3000 {
        inodes.push(file(&warm, &number.to_string()).await);
    }
    warm.close().await.unwrap();
    let cold = open(&store).await;
    throttled.config_mut(|config| config.wait_get_per_call = Duration::from_secs(3600));
    let inner = Arc::clone(&cold.0);
    let missing = inodes.clone();
    let loading = tokio::spawn(async move { inner.load_inodes(missing).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!loading.is_finished(), "the store was not asked");
    tokio::time::timeout(Duration::from_secs(5), cold.0.locks.exclusive(&inodes)).await.unwrap();
    loading.abort();
}

#[tokio::test]
async fn a_page_whose_entries_all_vanished_is_passed_over() {
    let engine = engine().await;
    for text in ["a", "b", "c", "d", "e"] {
        file(&engine, text).await;
    }
    let all = engine.readdir(Ino::ROOT, Cookie(0), 10, false).await.unwrap();
    for entry in &all.entries[..2] {
        let mut gone = names::Changing::default();
        gone.remove_inode(entry.ino);
        engine.0.finish(gone);
    }
    let page = engine.readdir(Ino::ROOT, Cookie(0), 2, true).await.unwrap();
    let listed: Vec<Ino> = page.entries.iter().map(|entry| entry.ino).collect();
    assert_eq!(listed, all.entries[2..4].iter().map(|entry| entry.ino).collect::<Vec<_>>());
}

/// The order of a directory and its cookies follow from this: it changes only with a new version of the format.
#[tokio::test]
async fn the_hash_of_a_name_stays_as_it_is() {
    // SipHash-1-3 with the key 00 01 .. 0f, worked out by another program; the upper 48 bits.
    assert_eq!(engine().await.0.hash(&name("hello.txt")), 0x5e3a_5116_1909);
}

#[tokio::test]
async fn extents_in_memory_wait_for_nobody() {
    let engine = engine().await;
    let file = file(&engine, "a").await;
    let data = crate::Extent { offset: 0, len: 2, content: crate::Content::Inline(Bytes::from_static(b"hi")) };
    let update = crate::FileUpdate { ino: file, extents: vec![data.clone()], size: 2, modified: None };
    engine.publish(&[], vec![update]).await.unwrap();
    let locked = engine.0.locks.exclusive(&[file]).await;
    let read = tokio::time::timeout(Duration::from_secs(5), engine.extents(file, 0..10)).await.unwrap().unwrap();
    assert_eq!(read, [data]);
    assert_eq!(engine.0.extents_of(file, 2..10).await.unwrap(), []);
    drop(locked);
    engine.abandon(file);
    engine.unlink(Ino::ROOT, &name("a")).await.unwrap();
    assert!(matches!(engine.extents(file, 0..2).await, Err(Error::File(stoa_vfs::Error::Stale))));
}

#[tokio::test]
async fn a_reader_never_sees_a_size_with_the_extents_of_another() {
    let engine = engine().await;
    let file = file(&engine, "a").await;
    let inline = |offset, text: &'static [u8]| crate::Extent {
        offset,
        len: 1,
        content: crate::Content::Inline(Bytes::from_static(text)),
    };
    let update = move |extents, size| vec![crate::FileUpdate { ino: file, extents, size, modified: None }];
    engine.publish(&[], update(vec![inline(0, b"a"), inline(1, b"b")], 2)).await.unwrap();
    let writer = engine.clone();
    let writing = tokio::task::spawn_blocking(move || {
        futures::executor::block_on(async {
            for _ in 0..3000 {
                writer.collapse(file, 0..1).await.unwrap();
                writer.publish(&[], update(vec![inline(0, b"a"), inline(1, b"b")], 2)).await.unwrap();
            }
        });
    });
    while !writing.is_finished() {
        let read = engine.extents(file, 0..2).await.unwrap();
        let single = read.len() == 1 && read[0].content == inline(0, b"b").content;
        assert!(single || read.len() == 2, "{read:?}");
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn care_goes_on_until_few_tables_are_left_and_ends_with_the_engine() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    for number in 0..6 {
        let engine = open(&store).await;
        engine.0.closing.cancel();
        file(&engine, &number.to_string()).await;
        engine.close().await.unwrap();
    }
    let engine = open(&store).await;
    let before = engine.0.kv.unmerged_tables();
    assert!(before >= 4, "{before}");
    file(&engine, "last").await;
    engine.commit().await.unwrap();
    drop(tokio::time::timeout(Duration::from_secs(30), engine.0.caring.lock()).await.unwrap());
    assert!(engine.0.kv.unmerged_tables() < 4);
    file(&engine, "more").await;
    tokio::time::timeout(Duration::from_secs(5), engine.close()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_directory_with_entries_is_never_reaped() {
    let engine = engine().await;
    let make = Make { node: Node::Directory, mode: 0o755, umask: 0 };
    let directory = engine.make(Caller::ROOT, Ino::ROOT, &name("d"), &make).await.unwrap().ino;
    engine.make(Caller::ROOT, directory, &name("e"), &make).await.unwrap();
    engine.fix(&[crate::Fix::Links(directory, 0)]).await.unwrap();
    assert!(matches!(engine.reap(directory).await, Err(Error::Corrupt(_))));
    assert_eq!(engine.attr(directory).await.unwrap().size, 1);
    engine.rmdir(directory, &name("e")).await.unwrap();
    engine.reap(directory).await.unwrap();
    assert!(engine.attr(directory).await.is_err());
}

#[tokio::test]
async fn a_lookup_does_not_read_all_over_the_volume() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let first = open(&store).await;
    let make = |node| Make { node, mode: 0o755, umask: 0 };
    let mut directories = Vec::new();
    for number in 0..20 {
        let called = name(&format!("dir{number}"));
        let dir = first.make(Caller::ROOT, Ino::ROOT, &called, &make(Node::Directory)).await.unwrap().ino;
        directories.push(dir);
        for number in 0..70 {
            first.make(Caller::ROOT, dir, &name(&format!("f{number}")), &make(Node::Regular)).await.unwrap();
        }
    }
    first.close().await.unwrap();

    let engine = open(&store).await;
    let dir = engine.lookup(Ino::ROOT, &name("dir7")).await.unwrap().ino;
    let is_held = |ino: &Ino| engine.0.cached.inodes.peek(ino).is_some();
    assert_eq!(directories.iter().filter(|dir| is_held(dir)).count(), 1, "they lie apart");
    let file = engine.lookup(dir, &name("f0")).await.unwrap().ino;
    assert!((file.0..file.0 + 70).map(Ino).all(|ino| is_held(&ino)), "these lie together");
}
