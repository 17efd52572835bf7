//! Little memory: moving data must not wait for memory that only moving on gives back.

use crate::world::{self, assert_clean, formatted, make, quiet};
use bytes::Bytes;
use std::time::Duration;
use stoa_vfs::Vfs;
use stoa_volume::{OpenOptions, Silent};

const BLOCK: usize = 128 << 10;
const BLOCKS: u64 = 512;

/// Compresses so well that no segment is ever full of it.
fn block(number: u64, version: u64) -> Bytes {
    format!("block {number} version {version} ").into_bytes().into_iter().cycle().take(BLOCK).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_with_little_memory_ends() {
    // Whatever seals a segment gives back what a collection would wait for in vain. So nothing flushes by itself,
    let volume = world::open(&formatted().await, OpenOptions { memory_bytes_max: 0, ..quiet() }).await;
    let (ino, handle) = make(&volume, "file").await;
    let write = async |number: u64, version| {
        world::write(&volume, (ino, handle), number * BLOCK as u64, block(number, version)).await;
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
    assert_clean(&volume).await;
    assert_eq!(volume.status().dirty_bytes, 0);
    volume.close().await.unwrap();
}
