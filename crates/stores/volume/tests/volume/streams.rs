//! What is written one after the other lies together in the store, however its requests arrive: one request reads it back.

use crate::world::{self, File, assert_clean, content, find, make, quiet};
use bytes::Bytes;
use object_store::memory::InMemory;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::{Ino, SetAttr, Vfs};
use stoa_volume::{OpenOptions, Volume};
use tokio::time::timeout;

const REQUEST: u64 = 8 << 20;
const FILES: u64 = 4;

/// For what takes no time.
const LIMIT: Duration = Duration::from_secs(60);

async fn formatted() -> Arc<InMemory> {
    let store = Arc::new(InMemory::new());
    world::format(&(Arc::clone(&store) as _)).await.unwrap();
    store
}

async fn open(store: Arc<InMemory>) -> Arc<Volume> {
    world::open(&(store as _), OpenOptions { take_over: true, ..quiet() }).await
}

/// Bytes that don't compress, and differ everywhere.
fn noise(file: u64, offset: u64, len: u64) -> Bytes {
    let word = |at: u64| {
        (file << 40 | at).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    (offset..offset + len).map(|at| word(at / 8).to_le_bytes()[(at % 8) as usize]).collect()
}

/// Writes several files at once, each in writes of `step` bytes of which each second overtakes the one before.
async fn write(volume: &Volume, size: u64, step: u64) -> Vec<File> {
    let mut files = Vec::new();
    for number in 0..FILES {
        files.push(make(volume, &format!("file-{number}")).await);
    }
    let writes = size.div_ceil(step);
    for at in std::iter::once(0).chain((1..writes).step_by(2).flat_map(|first| [first + 1, first])) {
        for (number, file) in (0..).zip(&files) {
            let offset = at * step;
            if offset < size {
                world::write(volume, *file, offset, noise(number, offset, step.min(size - offset))).await;
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
        let volume = open(formatted().await).await;
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_leaves_the_beginning_of_a_stream() {
    const SIZE: u64 = 40 << 20;
    let store = formatted().await;
    let volume = open(Arc::clone(&store)).await;
    let file = make(&volume, "stream").await;
    let whole = noise(0, 0, SIZE);
    let mut longest = 0;
    let mut look = async || {
        let found = after_crash(&volume, &store, "stream").await;
        assert!(whole.starts_with(&found), "{} bytes are not the beginning", found.len());
        assert!(found.len() >= longest, "{} bytes after {longest}", found.len());
        longest = found.len();
        longest
    };
    for at in std::iter::once(0).chain((1..40).step_by(3).flat_map(|first| [first + 1, first + 2, first])) {
        if at >= 40 {
            continue;
        }
        let data = whole.slice((at << 20) as usize..((at + 1) << 20) as usize);
        world::write(&volume, file, at << 20, data).await;
        // What is on its way arrives at some moment.
        tokio::time::sleep(Duration::from_millis(at % 7)).await;
        look().await;
    }
    let by_itself = async { while look().await < 16 << 20 {} };
    timeout(LIMIT, by_itself).await.expect("a full segment gets into the store by itself");
    volume.close().await.unwrap();
}

/// What a crash at this moment leaves of a file. What has arrived is committed, as it is with any change of names.
async fn after_crash(volume: &Volume, store: &InMemory, called: &str) -> Vec<u8> {
    volume.fsync(Ino::ROOT).await.unwrap();
    let after = open(Arc::new(store.fork())).await;
    content(&after, find(&after, called).await).await
}

/// Drops what a file was before it was as `found`: it never goes back.
fn forget_earlier(states: &mut Vec<Vec<u8>>, found: &[u8]) {
    let which = states.iter().position(|state| state == found);
    states.drain(..which.expect("the content is one that the file had"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_is_overwritten_a_crash_leaves_the_first_writes() {
    let store = formatted().await;
    let volume = open(Arc::clone(&store)).await;
    let file = make(&volume, "file").await;
    world::write(&volume, file, 0, noise(0, 0, 2 * REQUEST)).await;
    volume.fsync(file.0).await.unwrap();
    // One beyond where a layer may end comes first, and one across it last.
    let rounds = [REQUEST, 0, 1 << 20, 2 << 20, 3 << 20, 4 << 20, 5 << 20, 6 << 20, 7 << 20, REQUEST - (1 << 19)];
    let mut states = vec![content(&volume, file).await];
    for (round, offset) in (1..).zip(rounds.into_iter().cycle().take(60)) {
        let data = noise(round, offset, 1 << 20);
        let mut state = states.last().unwrap().clone();
        state[offset as usize..offset as usize + data.len()].copy_from_slice(&data);
        states.push(state);
        world::write(&volume, file, offset, data).await;
        tokio::time::sleep(Duration::from_millis(round % 5)).await;
        forget_earlier(&mut states, &after_crash(&volume, &store, "file").await);
    }
    let by_itself = async {
        while states.len() >= 40 {
            forget_earlier(&mut states, &after_crash(&volume, &store, "file").await);
        }
    };
    timeout(LIMIT, by_itself).await.expect("full segments get into the store by themselves");
    volume.close().await.unwrap();
}

/// A file of some requests, changed where they meet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_as_written_wherever_layers_end() {
    const SIZE: usize = 36 << 20;
    for seed in 0..6 {
        let mut random = StdRng::seed_from_u64(seed);
        let store = formatted().await;
        let mut volume = open(Arc::clone(&store)).await;
        let mut file = make(&volume, "file").await;
        let mut model: Vec<u8> = Vec::new();
        for step in 0..120_u64 {
            match random.random_range(0..100) {
                0..80 => {
                    // Mostly from where it ends, sometimes over what is there, and about where a layer may end.
                    let about = random.random_range(0..5_u64) * REQUEST;
                    let offset = match random.random_range(0..4) {
                        0 => about.saturating_sub(random.random_range(0..2 << 20)),
                        1 => model.len() as u64 + random.random_range(0..3 << 20),
                        _ => model.len() as u64,
                    };
                    let len = random.random_range(1..2 << 20).min((SIZE as u64).saturating_sub(offset));
                    let data = noise(step, offset, len);
                    world::write(&volume, file, offset, data.clone()).await;
                    if len > 0 {
                        let (start, end) = (offset as usize, (offset + len) as usize);
                        model.resize(model.len().max(end), 0);
                        model[start..end].copy_from_slice(&data);
                    }
                }
                80..86 => {
                    let size = random.random_range(0..model.len().max(1) + (1 << 20)).min(SIZE);
                    volume.setattr(file.0, &SetAttr { size: Some(size as u64), ..SetAttr::default() }).await.unwrap();
                    model.resize(size, 0);
                }
                86..92 => volume.fsync(file.0).await.unwrap(),
                92..96 => tokio::time::sleep(Duration::from_millis(5)).await,
                _ => {
                    volume.close().await.unwrap();
                    volume = open(Arc::clone(&store)).await;
                    file = find(&volume, "file").await;
                }
            }
            assert_eq!(volume.getattr(file.0).await.unwrap().size, model.len() as u64, "seed {seed}, step {step}");
            if step % 10 == 9 {
                assert!(content(&volume, file).await == model, "seed {seed}, step {step}");
            }
        }
        assert_clean(&volume).await;
        volume.close().await.unwrap();
    }
}
