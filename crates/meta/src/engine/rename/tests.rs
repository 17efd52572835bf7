use super::*;
use crate::Meta;
use crate::engine::tests::{ROOT, name, open};
use crate::engine::{Engine, testing};
use crate::record::RecordKey;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use stoa_vfs::{Caller, Make, Node};

/// What nobody could get out of, with all other moves of directories waiting.
#[tokio::test]
async fn directories_that_damage_put_inside_of_each_other_are_told() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let engine = open(&store).await;
    let make = Make { node: Node::Directory, mode: 0o755, umask: 0 };
    let mut made = Vec::new();
    for called in ["a", "b", "c"] {
        made.push(engine.make(Caller::ROOT, Ino::ROOT, &name(called), &make).await.unwrap().ino);
    }
    let [a, b, c] = made[..] else { unreachable!() };
    engine.close().await.unwrap();
    let records = testing::records(Arc::clone(&store)).await.unwrap();
    let inside = |ino: Ino, parent: Ino| {
        let key = RecordKey::Inode(ino);
        let inode = Inode::decode(records[&key.encode()].clone()).unwrap();
        (key, Some(Inode { parent, ..inode }.encode()))
    };
    testing::plant(Arc::clone(&store), vec![inside(a, b), inside(b, c), inside(c, b)]).await.unwrap();

    let engine = open(&store).await;
    engine.make(Caller::ROOT, Ino::ROOT, &name("moved"), &make).await.unwrap();
    let moved = name("moved");
    let rename = engine.rename(Ino::ROOT, &moved, a, &moved, RenameMode::Replace);
    let renamed = tokio::time::timeout(std::time::Duration::from_secs(10), rename).await.unwrap();
    assert!(matches!(renamed, Err(Error::Corrupt(_))), "{renamed:?}");
}
