//! A namespace that outgrows memory tables: flushed, merged, collected, and found again.

use crate::world::{self, REGULAR, Store, name, options};
use futures::TryStreamExt;
use stoa_vfs::{Caller, Cookie, Ino, Vfs, XattrMode};
use stoa_volume::{FsckOptions, Silent};

/// Enough, with their attributes, for several memory tables (32 MiB each) to be written and merged.
const FILES: usize = 60_000;
const VALUE_BYTES: usize = 4096;

async fn count(store: &Store, prefix: &str) -> usize {
    let prefix = object_store::path::Path::from(prefix);
    store.list(Some(&prefix)).try_collect::<Vec<_>>().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_are_merged_and_everything_is_found_again() {
    let store = world::formatted().await;
    let volume = world::open(&store, options()).await;
    let value = bytes::Bytes::from(vec![b'v'; VALUE_BYTES]);
    for number in 0..FILES {
        let name = name(&format!("file {number}"));
        let ino = volume.make(Caller::ROOT, Ino::ROOT, &name, &REGULAR).await.unwrap().attr.ino;
        volume.forget(ino, 1);
        volume.setxattr(ino, b"user.value", value.clone(), XattrMode::Set, false).await.unwrap();
        if number % 500 == 0 {
            volume.sync().await.unwrap();
        }
    }
    volume.close().await.unwrap();
    let tables = count(&store, "meta/compacted").await;
    assert!(tables > 1, "only {tables} tables: nothing was flushed, let alone merged");

    let volume = world::open(&store, options()).await;
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
        let name = name(&format!("file {number}"));
        let ino = volume.lookup(Ino::ROOT, &name).await.unwrap().attr.ino;
        assert_eq!(volume.getxattr(ino, b"user.value").await.unwrap(), value);
    }
    let report = volume.fsck(FsckOptions::default(), &Silent).await.unwrap();
    assert_eq!(report.problems, []);
    volume.close().await.unwrap();
}
