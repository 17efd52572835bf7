use super::Trail;
use crate::engine::Engine;
use crate::engine::tests::{ROOT, name, open};
use crate::{Meta, record::RecordKey};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use stoa_vfs::{Caller, Cookie, Ino, Make, Node};

const DIRECTORIES: usize = 10;
const FILES: usize = 5;

/// A namespace of directories with files, that nobody has looked at since it was opened.
async fn tree() -> (Arc<dyn ObjectStore>, Engine, Vec<Ino>) {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let engine = open(&store).await;
    let make = |node| Make { node, mode: 0o755, umask: 0 };
    let mut directories = Vec::new();
    for number in 0..DIRECTORIES {
        let called = name(&format!("dir{number}"));
        let dir = engine.make(Caller::ROOT, Ino::ROOT, &called, &make(Node::Directory)).await.unwrap().ino;
        for number in 0..FILES {
            engine.make(Caller::ROOT, dir, &name(&format!("f{number}")), &make(Node::Regular)).await.unwrap();
        }
        directories.push(dir);
    }
    engine.close().await.unwrap();
    let engine = open(&store).await;
    (store, engine, directories)
}

async fn list(engine: &Engine, dir: Ino) -> usize {
    engine.readdir(dir, Cookie::START, 100, true).await.unwrap().entries.len()
}

fn is_read(engine: &Engine, dir: Ino) -> bool {
    engine.0.cached.whole.knows(dir)
}

#[tokio::test]
async fn who_reads_two_directories_side_by_side_gets_those_around_them() {
    let (_store, engine, directories) = tree().await;
    assert_eq!(list(&engine, directories[0]).await, FILES);
    assert!(!is_read(&engine, directories[1]), "one directory says nothing");
    assert_eq!(list(&engine, directories[1]).await, FILES);
    assert!(directories[2..].iter().all(|dir| is_read(&engine, *dir)));
    let inodes = &engine.0.cached.inodes;
    assert!((directories[2].0..directories[9].0).all(|ino| inodes.peek(&Ino(ino)).is_some()));
    for dir in &directories {
        assert_eq!(list(&engine, *dir).await, FILES);
    }
}

#[tokio::test]
async fn what_was_read_ahead_keeps_up_with_changes() {
    let (_store, engine, directories) = tree().await;
    list(&engine, directories[0]).await;
    list(&engine, directories[1]).await;
    engine.unlink(directories[2], &name("f0")).await.unwrap();
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    engine.make(Caller::ROOT, directories[3], &name("new"), &make).await.unwrap();
    assert_eq!(list(&engine, directories[2]).await, FILES - 1);
    assert_eq!(list(&engine, directories[3]).await, FILES + 1);
    assert!(engine.lookup(directories[2], &name("f0")).await.is_err());
    assert!(engine.lookup(directories[3], &name("new")).await.is_ok());
}

#[tokio::test]
async fn what_changed_while_it_was_read_ahead_is_not_held() {
    let (_store, engine, directories) = tree().await;
    let shown = engine.0.pending.commits_shown();
    let (changed, unchanged) = (directories[4], directories[5]);
    let range = |dir: Ino| {
        let (start, end) = RecordKey::all_about(b'd', dir.0);
        start..end
    };
    engine.unlink(changed, &name("f0")).await.unwrap();
    assert!(!engine.0.pending.is_range_unchanged(&range(changed), shown));
    assert!(engine.0.pending.is_range_unchanged(&range(unchanged), shown));
    engine.0.keep_directory(unchanged, Vec::new(), shown).await;
    assert!(is_read(&engine, unchanged));

    engine.commit().await.unwrap();
    let late = directories[6];
    assert!(!engine.0.pending.is_range_unchanged(&range(late), shown), "a commit may have had a change of it");
    engine.0.keep_directory(late, Vec::new(), shown).await;
    assert!(!is_read(&engine, late));
}

#[test]
fn a_trail_goes_on_near_where_it_ended() {
    let trail = Trail::default();
    assert!(!trail.goes_on(Ino(10), Ino(20)), "the first");
    assert!(trail.goes_on(Ino(30), Ino(40)));
    assert!(trail.goes_on(Ino(5), Ino(5)));
    assert!(!trail.goes_on(Ino(5), Ino(5)), "the same again");
    assert!(!trail.goes_on(Ino(1_000_000), Ino(1_000_001)));
    assert!(trail.goes_on(Ino(1_000_002), Ino(1_000_002)));
}
