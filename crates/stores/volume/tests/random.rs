//! The same random operations on a volume and on the model, with remounts in between.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that can't go on fails"
)]

use object_store::ObjectStore;
use object_store::memory::InMemory;
use parking_lot::Mutex;
use std::sync::Arc;
use stoa_vfs::Vfs;
use stoa_volume::{FormatOptions, FsckOptions, OpenOptions, Owner, Silent, Volume};

async fn open(store: Arc<dyn ObjectStore>) -> Arc<Volume> {
    let owner = Owner::new("test", "test");
    Volume::open(store, OpenOptions::new(owner)).await.unwrap()
}

async fn assert_clean(volume: &Volume) {
    let report = volume.fsck(FsckOptions { data: true, repair: false }, &Silent).await.unwrap();
    assert_eq!(report.problems, [], "the volume is not clean");
}

/// Every so often the volume is collected, closed, opened again and checked.
async fn run(seed: u64, operations: usize, every: usize) {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    stoa_volume::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    let current = Mutex::new(open(Arc::clone(&store)).await);
    let first: Arc<dyn Vfs> = current.lock().clone();
    stoa_conformance::differential_with(first, seed, operations, every, async |_| {
        let before = current.lock().clone();
        before.gc(&Silent).await.unwrap();
        assert_clean(&before).await;
        before.close().await.unwrap();
        let after = open(Arc::clone(&store)).await;
        assert_clean(&after).await;
        *current.lock() = Arc::clone(&after);
        after as Arc<dyn Vfs>
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_is_as_the_model() {
    for seed in 0..4 {
        run(seed, 3000, usize::MAX).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_is_as_the_model_over_remounts() {
    for seed in 100..106 {
        run(seed, 1200, 150).await;
    }
}
