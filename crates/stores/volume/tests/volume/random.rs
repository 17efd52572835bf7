//! The same random operations on a volume and on the model, with remounts in between.

use crate::world::{self, assert_clean, options};
use parking_lot::Mutex;
use std::sync::Arc;
use stoa_vfs::Vfs;
use stoa_volume::Silent;

/// Every so often the volume is collected, closed, opened again and checked.
async fn run(seed: u64, operations: usize, every: usize) {
    let store = world::formatted().await;
    let current = Mutex::new(world::open(&store, options()).await);
    let first: Arc<dyn Vfs> = current.lock().clone();
    stoa_conformance::differential_with(first, seed, operations, every, async |_| {
        let before = current.lock().clone();
        before.gc(&Silent).await.unwrap();
        assert_clean(&before).await;
        before.close().await.unwrap();
        let after = world::open(&store, options()).await;
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
