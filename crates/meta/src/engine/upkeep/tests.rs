use super::*;
use crate::Meta;
use crate::engine::Engine;
use crate::engine::tests::{ROOT, file, open};
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use stoa_vfs::XattrMode;

/// What must not wait for ever is done by then, also on a machine under load.
const SOON: Duration = Duration::from_secs(60);

/// Each table that is merged with it can't be, either: there are more and more of them.
#[tokio::test]
async fn commits_that_wait_for_a_damaged_table_to_be_merged_say_so() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let tables: Vec<_> = store.list(Some(&Path::from("meta/compacted"))).try_collect().await.unwrap();
    let [table] = &tables[..] else { panic!("{tables:?}") };
    // What is needed to open the namespace is in a newer one.
    let first = open(&store).await;
    file(&first, "a").await;
    first.close().await.unwrap();
    let mut content = store.get(&table.location).await.unwrap().bytes().await.unwrap().to_vec();
    content[10] ^= 1;
    store.put(&table.location, content.into()).await.unwrap();

    // A clean end makes a table of what the log holds, as long as there is room for one.
    for number in 0..=TABLES_MAX {
        let engine = open(&store).await;
        file(&engine, &number.to_string()).await;
        tokio::time::timeout(SOON, engine.close()).await.unwrap().unwrap();
    }
    let engine = open(&store).await;
    assert_eq!(engine.0.kv.unmerged_tables(), TABLES_MAX);
    let ino = file(&engine, "long").await;
    let refused = async {
        for number in 0.. {
            let name = format!("user.{number}");
            let value = Bytes::from(vec![0; 60_000]);
            engine.setxattr(ino, name.as_bytes(), value, XattrMode::Set, false).await?;
            engine.commit().await?;
        }
        Ok(())
    };
    let refused = tokio::time::timeout(SOON, refused).await.unwrap();
    assert!(matches!(&refused, Err(Error::Refused(why)) if why.contains("wait to be merged")), "{refused:?}");
}
