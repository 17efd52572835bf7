use super::HELD_MAX;
use crate::engine::Engine;
use crate::engine::tests::{ROOT, file, open};
use crate::record::RecordKey;
use crate::testing;
use crate::{Codec, Content, Error, Extent, FileUpdate, FrameRef, Meta, NewSegment, Run, SegmentId};
use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_vfs::Ino;

const LEN: u64 = 4096;
const SEGMENT: SegmentId = SegmentId(1);

/// More than are read for a reader.
const MANY: u64 = 2 * HELD_MAX as u64 + 500;

fn extent(index: u64, checksum: u64) -> Extent {
    let frame = FrameRef { stored_len: 4096, data_len: 4096, checksum, codec: Codec::Raw };
    let run = Run { segment: SEGMENT, stored_offset: 0, skip: 0, frames: vec![frame] };
    Extent { offset: index * LEN, len: LEN, content: Content::Stored(run) }
}

/// A namespace with a file without extents, and the segment that they are going to lie in.
async fn empty_file() -> (Arc<dyn ObjectStore>, Engine, Ino) {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let engine = open(&store).await;
    let ino = file(&engine, "file").await;
    engine.publish(&[NewSegment { id: SEGMENT, stored_bytes: 1, data_bytes: 1 }], Vec::new()).await.unwrap();
    (store, engine, ino)
}

async fn publish(engine: &Engine, ino: Ino, extents: Vec<Extent>) {
    engine.publish(&[], vec![FileUpdate { ino, extents, size: MANY * LEN, modified: None }]).await.unwrap();
}

fn may_be_held(engine: &Engine, ino: Ino) -> bool {
    engine.0.cached.extents.get(&ino).is_none_or(|held| engine.0.may_be_held(&held))
}

#[tokio::test]
async fn the_extents_of_a_file_that_is_written_at_random_are_held() {
    let (store, first, ino) = empty_file().await;
    let mut expected: Vec<Extent> = (0..MANY).map(|index| extent(index, index)).collect();
    publish(&first, ino, expected.clone()).await;
    assert!(first.0.held(ino).await.unwrap().is_some(), "its writer holds it");
    first.close().await.unwrap();

    let second = open(&store).await;
    assert_eq!(second.extents(ino, 0..LEN).await.unwrap(), expected[..1]);
    assert!(second.0.held(ino).await.unwrap().is_none(), "a reader does not wait for all of it");
    assert!(may_be_held(&second, ino), "its writer does");
    let scattered: Vec<Extent> = (0..100).map(|index| extent(index * 7, index + MANY)).collect();
    for extent in &scattered {
        let index = usize::try_from(extent.offset / LEN).unwrap();
        expected[index] = extent.clone();
    }
    publish(&second, ino, scattered).await;
    assert!(second.0.held(ino).await.unwrap().is_some());
    assert_eq!(second.extents(ino, 0..MANY * LEN).await.unwrap(), expected);
    second.close().await.unwrap();

    let third = open(&store).await;
    assert_eq!(third.extents(ino, 0..MANY * LEN).await.unwrap(), expected);
}

#[tokio::test]
async fn that_a_file_has_too_many_extents_is_found_out_once() {
    let (store, first, ino) = empty_file().await;
    let many = u64::try_from(first.0.cached.held_max).unwrap() + 1;
    let update = |extents| vec![FileUpdate { ino, extents, size: many * LEN, modified: None }];
    first.publish(&[], update((0..many).map(|index| extent(index, index)).collect())).await.unwrap();
    assert!(first.0.held(ino).await.unwrap().is_none());
    assert!(!may_be_held(&first, ino), "it has outgrown what its writer holds");
    first.close().await.unwrap();

    let second = open(&store).await;
    assert!(may_be_held(&second, ino), "nobody knows");
    second.publish(&[], update((0..100).map(|index| extent(index, index + many)).collect())).await.unwrap();
    assert!(second.0.held(ino).await.unwrap().is_none());
    assert!(!may_be_held(&second, ino));
}

#[tokio::test]
async fn who_reads_many_extents_holds_them_in_the_end() {
    let (store, first, ino) = empty_file().await;
    let expected: Vec<Extent> = (0..MANY).map(|index| extent(index, index)).collect();
    publish(&first, ino, expected.clone()).await;
    first.close().await.unwrap();

    let second = open(&store).await;
    assert_eq!(second.extents(ino, 0..LEN).await.unwrap(), expected[..1]);
    assert!(second.0.held(ino).await.unwrap().is_none());
    assert_eq!(second.extents(ino, 0..MANY * LEN).await.unwrap(), expected);
    assert!(second.0.held(ino).await.unwrap().is_some());
    assert_eq!(second.extents(ino, LEN..MANY * LEN).await.unwrap(), expected[1..]);
}

#[tokio::test]
async fn a_file_that_has_fewer_extents_again_is_held_again() {
    let (_store, engine, ino) = empty_file().await;
    let many = u64::try_from(engine.0.cached.held_max).unwrap() + 1;
    let update = |extents| vec![FileUpdate { ino, extents, size: many * LEN, modified: None }];
    engine.publish(&[], update((0..many).map(|index| extent(index, index)).collect())).await.unwrap();
    assert!(!may_be_held(&engine, ino));
    // As defragmenting does it: a window at a time.
    const WINDOW: u64 = 1000;
    let joined = |start: u64| Extent { len: WINDOW.min(many - start) * LEN, ..hole_at(start) };
    for start in (0..many).step_by(WINDOW as usize) {
        engine.publish(&[], update(vec![joined(start)])).await.unwrap();
    }
    assert!(engine.0.held(ino).await.unwrap().is_some());
    let all: u64 = engine.extents(ino, 0..many * LEN).await.unwrap().iter().map(|extent| extent.len).sum();
    assert_eq!(all, many * LEN);
}

fn hole_at(index: u64) -> Extent {
    Extent { offset: index * LEN, len: LEN, content: Content::Hole }
}

/// As a file has them that was written from its start to its end: few, of many frames each.
#[tokio::test]
async fn that_the_extents_of_a_file_are_too_heavy_is_found_out_once() {
    const FRAMES: u64 = 64;
    let (_store, engine, ino) = empty_file().await;
    let long = |index: u64| {
        let Extent { content: Content::Stored(run), .. } = extent(0, index) else { unreachable!() };
        let frames = run.frames.repeat(FRAMES as usize);
        let len = FRAMES * LEN;
        Extent { offset: index * len, len, content: Content::Stored(Run { frames, ..run }) }
    };
    let many = 4 * engine.0.cached.held_bytes_max / 3 / (FRAMES * size_of::<FrameRef>() as u64);
    assert!(many < HELD_MAX as u64, "not because of their number");
    let update = |extents, count: u64| vec![FileUpdate { ino, extents, size: count * FRAMES * LEN, modified: None }];
    engine.publish(&[], update((0..many).map(long).collect(), many)).await.unwrap();
    engine.0.cached.extents.remove(&ino);
    for _ in 0..2 {
        assert_eq!(engine.extents(ino, 0..FRAMES * LEN).await.unwrap(), [long(0)]);
        let cached = engine.0.cached.extents.get(&ino).expect("what is known of it is kept");
        assert!(cached.extents.is_none() && !engine.0.may_be_held(&cached));
    }
    // With a few less they fit.
    engine.publish(&[], update(Vec::new(), 100)).await.unwrap();
    assert!(engine.0.held(ino).await.unwrap().is_some());
}

/// Each of them searched for by itself would read the file many times over.
#[tokio::test]
async fn many_places_of_a_file_that_is_not_held_are_found_in_one_pass() {
    let (store, first, ino) = empty_file().await;
    let many = u64::try_from(first.0.cached.held_max).unwrap() + 1;
    let update = |extents| vec![FileUpdate { ino, extents, size: many * LEN, modified: None }];
    let mut expected: Vec<Extent> = (0..many).map(|index| extent(index, index)).collect();
    first.publish(&[], update(expected.clone())).await.unwrap();
    first.close().await.unwrap();

    let engine = open(&store).await;
    // Here many and there few; and none at all for a while.
    let near = |index: &u64| index.is_multiple_of(5) && *index < many / 2;
    let far = |index: &u64| index.is_multiple_of(400) && *index > many * 3 / 4;
    for round in 1..=3 {
        let changed: Vec<u64> = (0..many).filter(|index| near(index) || far(index) || *index == many - 1).collect();
        let changed: Vec<Extent> = changed.into_iter().map(|index| extent(index, index + round * many)).collect();
        for extent in &changed {
            expected[usize::try_from(extent.offset / LEN).unwrap()] = extent.clone();
        }
        engine.publish(&[], update(changed)).await.unwrap();
        let held = engine.0.cached.extents.get(&ino).unwrap();
        assert!(held.extents.is_none(), "it is held, which shows nothing");
        let read = u64::try_from(held.read.swap(0, Ordering::Relaxed)).unwrap();
        assert!(read < many, "{read} extents were read of {many}");
        // One that lies across several, and one that is cut.
        let across = Extent { offset: 7 * round * LEN, len: 9 * LEN / 2, content: Content::Hole };
        engine.publish(&[], update(vec![across.clone()])).await.unwrap();
        let at = usize::try_from(7 * round).unwrap();
        let rest = expected[at + 4].slice(&(across.end()..u64::MAX)).unwrap();
        let undone: Vec<Extent> = expected[at..at + 5].to_vec();
        let found = engine.extents(ino, across.offset..rest.end()).await.unwrap();
        assert_eq!(found, [across, rest]);
        engine.publish(&[], update(undone)).await.unwrap();
    }
    assert_eq!(engine.extents(ino, 0..many * LEN).await.unwrap(), expected);
}

/// Pages that were written together, from page `start` on. What is left of them, when others are written over some, says which these were.
fn together(start: u64, pages: u64, number: u64) -> Extent {
    let len = pages * LEN;
    let frame =
        FrameRef { stored_len: 4096, data_len: u32::try_from(len).unwrap(), checksum: number, codec: Codec::Raw };
    let run = Run { segment: SEGMENT, stored_offset: 0, skip: 0, frames: vec![frame] };
    Extent { offset: start * LEN, len, content: Content::Stored(run) }
}

/// For each page which write it is of, and which page of that.
fn pages_of(extents: &[Extent]) -> Vec<(u64, u64)> {
    let pages = |extent: &Extent| {
        let Content::Stored(run) = &extent.content else { panic!("{extent:?} is no data") };
        let (number, first) = (run.frames[0].checksum, u64::from(run.skip) / LEN);
        (first..first + extent.len / LEN).map(move |page| (number, page)).collect::<Vec<_>>()
    };
    extents.iter().flat_map(pages).collect()
}

#[tokio::test]
async fn random_updates_of_a_file_that_is_not_held_are_as_in_a_model() {
    let (_store, engine, ino) = empty_file().await;
    let many = 2 * u64::try_from(engine.0.cached.held_max).unwrap();
    let update = |extents| vec![FileUpdate { ino, extents, size: many * LEN, modified: None }];
    engine.publish(&[], update((0..many).map(|page| together(page, 1, page)).collect())).await.unwrap();
    let mut model: Vec<(u64, u64)> = (0..many).map(|page| (page, 0)).collect();
    let mut random = StdRng::seed_from_u64(7);
    let mut number = many;
    for round in 0..12 {
        // Many at once, some, or few; never so many that the file is held.
        let apart = [6, 60, 5000][round % 3];
        let mut extents = Vec::new();
        let mut page = random.random_range(0..apart);
        while page < many {
            number += 1;
            let pages = random.random_range(1..4).min(many - page);
            extents.push(together(page, pages, number));
            (0..pages).for_each(|within| model[usize::try_from(page + within).unwrap()] = (number, within));
            page += pages + random.random_range(0..2 * apart);
        }
        engine.publish(&[], update(extents)).await.unwrap();
        let start = random.random_range(0..many - 3000);
        let found = engine.extents(ino, start * LEN..(start + 3000) * LEN).await.unwrap();
        let expected = usize::try_from(start).unwrap()..usize::try_from(start + 3000).unwrap();
        assert!(pages_of(&found) == model[expected], "round {round}, from page {start}");
    }
    assert!(engine.0.held(ino).await.unwrap().is_none(), "it is held, which shows nothing");
    assert!(pages_of(&engine.extents(ino, 0..many * LEN).await.unwrap()) == model);
}

#[tokio::test]
async fn damage_beside_what_is_written_keeps_nobody_from_it() {
    let (store, first, ino) = empty_file().await;
    let many = u64::try_from(first.0.cached.held_max).unwrap() + 1;
    let update = |extents| vec![FileUpdate { ino, extents, size: many * LEN, modified: None }];
    first.publish(&[], update((0..many).map(|index| extent(index, index)).collect())).await.unwrap();
    first.close().await.unwrap();
    // Not among those that are read to find out that the file is not to be held.
    let damaged = HELD_MAX as u64 + 500;
    let key = RecordKey::Extent(ino, (damaged + 1) * LEN);
    testing::plant(Arc::clone(&store), vec![(key, Some(Bytes::from_static(&[0xff])))]).await.unwrap();

    let engine = open(&store).await;
    let written = |places: [u64; 3]| update(places.map(|index| extent(index, index + many)).to_vec());
    engine.publish(&[], written([damaged - 30, damaged - 9, damaged - 1])).await.unwrap();
    engine.publish(&[], written([damaged + 1, damaged + 9, damaged + 30])).await.unwrap();
    assert!(engine.0.held(ino).await.unwrap().is_none(), "it is held, which shows nothing");
    let before = engine.extents(ino, (damaged - 2) * LEN..damaged * LEN).await.unwrap();
    assert_eq!(before, [extent(damaged - 2, damaged - 2), extent(damaged - 1, damaged - 1 + many)]);
    let across = engine.publish(&[], written([damaged - 30, damaged, damaged + 30])).await;
    assert!(matches!(across, Err(Error::Corrupt(_))), "{across:?}");
}
