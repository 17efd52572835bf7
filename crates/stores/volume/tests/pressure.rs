//! Little memory: moving data must not wait for memory that only moving on gives back.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::{Caller, Ino, Make, Name, Node, OpenFlags, Vfs, WriteFlags};
use stoa_volume::{FormatOptions, FsckOptions, OpenOptions, Owner, Silent, Volume};

const BLOCK: usize = 128 << 10;
const BLOCKS: u64 = 512;

/// Compresses so well that no segment is ever full of it.
fn block(number: u64, version: u64) -> Bytes {
    format!("block {number} version {version} ").into_bytes().into_iter().cycle().take(BLOCK).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_with_little_memory_ends() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    stoa_volume::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    let owner = Owner::new("test", "test");
    // Whatever seals a segment gives back what a collection would wait for in vain. So nothing flushes by itself,
    let commit_interval = Duration::from_secs(3600);
    let options = OpenOptions { memory_bytes_max: 0, commit_interval, ..OpenOptions::new(owner) };
    let volume = Volume::open(store, options).await.unwrap();
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    let ino = volume.make(Caller::ROOT, Ino::ROOT, &Name::new("file").unwrap(), &make).await.unwrap().attr.ino;
    let handle = volume.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap();
    let write = async |number: u64, version| {
        let offset = number * BLOCK as u64;
        volume.write(ino, handle, offset, block(number, version), WriteFlags::default()).await.unwrap();
    };
    for number in 0..BLOCKS {
        write(number, 0).await;
    }
    volume.fsync(ino).await.unwrap();
    // Most of every segment dies; what is left, a quarter, is more than the memory for data on its way.
    for number in (0..BLOCKS).filter(|number| number % 8 > 2) {
        write(number, 1).await;
        // and never is so much scattered at once that the file is defragmented, which ends by sealing.
        if number % 32 == 31 {
            volume.fsync(ino).await.unwrap();
        }
    }
    let report = tokio::time::timeout(Duration::from_secs(60), volume.gc(&Silent)).await;
    let report = report.unwrap_or_else(|_| panic!("the collection waits for ever")).unwrap();
    assert!(report.rewritten_bytes > 16 << 20, "{report:?}: too little was moved to show anything");
    assert!(report.deleted_segments > 0, "{report:?}");
    for number in 0..BLOCKS {
        let data = volume.read(ino, handle, number * BLOCK as u64, BLOCK).await.unwrap().concat();
        assert!(data == block(number, u64::from(number % 8 > 2)), "block {number} is not what was written");
    }
    let report = volume.fsck(FsckOptions { data: true, repair: false }, &Silent).await.unwrap();
    assert_eq!(report.problems, []);
    assert_eq!(volume.status().dirty_bytes, 0);
    volume.close().await.unwrap();
}
