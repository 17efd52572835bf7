//! A namespace that outgrows memory tables: flushed, merged, collected, and found again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use futures::TryStreamExt;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use stoa_vfs::{Caller, Cookie, Ino, Make, Name, Node, Vfs, XattrMode};
use stoa_volume::{FormatOptions, FsckOptions, OpenOptions, Owner, Silent, Volume};

/// Enough, with their attributes, for several memory tables (32 MiB each) to be written and merged.
const FILES: usize = 60_000;
const VALUE_BYTES: usize = 4096;

async fn open(store: &Arc<dyn ObjectStore>) -> Arc<Volume> {
    let owner = Owner::new("test", "test");
    Volume::open(Arc::clone(store), OpenOptions::new(owner)).await.unwrap()
}

async fn count(store: &Arc<dyn ObjectStore>, prefix: &str) -> usize {
    let prefix = object_store::path::Path::from(prefix);
    store.list(Some(&prefix)).try_collect::<Vec<_>>().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_merged_and_everything_is_found_again() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    stoa_volume::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    let volume = open(&store).await;
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    let value = bytes::Bytes::from(vec![b'v'; VALUE_BYTES]);
    for number in 0..FILES {
        let name = Name::new(format!("file {number}")).unwrap();
        let ino = volume.make(Caller::ROOT, Ino::ROOT, &name, &make).await.unwrap().attr.ino;
        volume.forget(ino, 1);
        volume.setxattr(ino, b"user.value", value.clone(), XattrMode::Set, false).await.unwrap();
        if number % 500 == 0 {
            volume.sync().await.unwrap();
        }
    }
    volume.close().await.unwrap();
    let tables = count(&store, "meta/compacted").await;
    assert!(tables > 1, "only {tables} tables: nothing was flushed, let alone merged");

    let volume = open(&store).await;
    let mut after = Cookie::START;
    let mut found = 0;
    loop {
        let page = volume.readdir(Ino::ROOT, after, 1000, true).await.unwrap();
        found += page.entries.len();
        for entry in &page.entries {
            volume.forget(entry.ino, 1);
            after = entry.cookie;
        }
        if page.end {
            break;
        }
    }
    assert_eq!(found, FILES);
    for number in (0..FILES).step_by(997) {
        let name = Name::new(format!("file {number}")).unwrap();
        let ino = volume.lookup(Ino::ROOT, &name).await.unwrap().attr.ino;
        assert_eq!(volume.getxattr(ino, b"user.value").await.unwrap(), value);
    }
    let report = volume.fsck(FsckOptions::default(), &Silent).await.unwrap();
    assert_eq!(report.problems, []);
    volume.close().await.unwrap();
}
