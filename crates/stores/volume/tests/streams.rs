//! What is written one after the other lies together in the store, however its requests arrive: one request reads it back.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that can't go on fails")]

use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::{Caller, Handle, Ino, Make, Name, Node, OpenFlags, Vfs, WriteFlags};
use stoa_volume::{FormatOptions, OpenOptions, Owner, Volume};

const REQUEST: u64 = 8 << 20;
const FILES: u64 = 4;

async fn open() -> Arc<Volume> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    stoa_volume::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    // Nothing is flushed but what goes into the log by itself.
    let options =
        OpenOptions { commit_interval: Duration::from_secs(3600), ..OpenOptions::new(Owner::new("test", "test")) };
    Volume::open(store, options).await.unwrap()
}

async fn make(volume: &Volume, called: String) -> (Ino, Handle) {
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    let ino = volume.make(Caller::ROOT, Ino::ROOT, &Name::new(called.into_bytes()).unwrap(), &make).await.unwrap();
    (ino.attr.ino, volume.open(ino.attr.ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap())
}

/// Bytes that don't compress, and differ everywhere.
fn noise(file: u64, offset: u64, len: u64) -> Bytes {
    let word = |at: u64| {
        (file << 40 | at).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    (offset..offset + len).map(|at| word(at / 8).to_le_bytes()[(at % 8) as usize]).collect()
}

/// Writes several files at once, each in writes of `step` bytes of which each second overtakes the one before.
async fn write(volume: &Volume, size: u64, step: u64) -> Vec<(Ino, Handle)> {
    let mut files = Vec::new();
    for number in 0..FILES {
        files.push(make(volume, format!("file-{number}")).await);
    }
    let writes = size.div_ceil(step);
    for at in std::iter::once(0).chain((1..writes).step_by(2).flat_map(|first| [first + 1, first])) {
        for (number, (ino, handle)) in (0..).zip(&files) {
            let offset = at * step;
            if offset < size {
                let data = noise(number, offset, step.min(size - offset));
                volume.write(*ino, *handle, offset, data, WriteFlags::default()).await.unwrap();
            }
        }
    }
    for (ino, _) in &files {
        volume.fsync(*ino).await.unwrap();
    }
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_written_at_once_are_read_with_whole_requests() {
    const SIZE: u64 = 40 << 20;
    for step in [1 << 20, 700_001] {
        let volume = open().await;
        let mut segments = HashSet::new();
        for (number, (ino, handle)) in (0..).zip(write(&volume, SIZE, step).await) {
            let extents = volume.file_info(ino).await.unwrap().extents;
            let cuts: Vec<_> = extents.iter().filter(|extent| !extent.offset.is_multiple_of(REQUEST)).collect();
            assert!(cuts.is_empty(), "writes of {step} bytes: {cuts:?}");
            segments.extend(extents.into_iter().filter_map(|extent| extent.segment));
            for offset in (0..SIZE).step_by(1 << 20) {
                let read = volume.read(ino, handle, offset, 1 << 20).await.unwrap().concat();
                assert!(noise(number, offset, 1 << 20) == read, "file {number} at {offset}");
            }
        }
        let expected = FILES * SIZE / (16 << 20);
        assert!(segments.len() as u64 <= expected + 2, "{} segments instead of {expected}", segments.len());
        volume.close().await.unwrap();
    }
}
