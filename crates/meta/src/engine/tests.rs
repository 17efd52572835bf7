use super::*;
use crate::Meta;
use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use std::time::Duration;
use stoa_vfs::{Caller, Cookie, Make, Node};

const ROOT: RootOptions = RootOptions { mode: 0o755, uid: 0, gid: 0 };

pub(super) async fn open(store: &Arc<dyn ObjectStore>) -> Engine {
    let hash_key = std::array::from_fn(|index| u8::try_from(index).unwrap());
    Engine::open(Arc::clone(store), &EngineOptions { memory_bytes_max: 64 << 20, hash_key }).await.unwrap()
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
