//! The suite that every store passes, on a volume over an object store in memory.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test that can't go on fails"
)]

use object_store::memory::InMemory;
use std::sync::Arc;
use stoa_vfs::Vfs;
use stoa_volume::{FormatOptions, OpenOptions, Owner, Volume};

async fn volume() -> Arc<dyn Vfs> {
    let store = Arc::new(InMemory::new());
    stoa_volume::format(store.clone(), &FormatOptions::default()).await.unwrap();
    let owner = Owner::new("test", "test");
    Volume::open(store, OpenOptions::new(owner)).await.unwrap()
}

stoa_conformance::conformance_tests!(volume);
