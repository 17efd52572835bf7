use crate::engine::Engine;
use crate::engine::tests::{engine, file, name};
use crate::{Codec, Content, Extent, FileUpdate, FrameRef, Meta, NewSegment, Run, SegmentId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stoa_vfs::{Caller, Ino, Make, Node};

const LEN: u64 = 4096;

/// More extents than the engine of these tests holds in memory, even of a file that it writes.
const MANY: u64 = 50_000;

/// Transactions for that many.
const STEPS: u64 = MANY.div_ceil(4096);

const COMMON: SegmentId = SegmentId(1);
const RARE: SegmentId = SegmentId(2);

/// The `index`-th extent of a file. No two are one: each has a checksum of its own.
fn extent(index: u64, segment: SegmentId) -> Extent {
    let frame = FrameRef { stored_len: 4096, data_len: 4096, checksum: index, codec: Codec::Raw };
    let run = Run { segment, stored_offset: 0, skip: 0, frames: vec![frame] };
    Extent { offset: index * LEN, len: LEN, content: Content::Stored(run) }
}

/// A file of `count` extents, of which the last lies in a segment of its own.
async fn long_file(engine: &Engine, text: &str, count: u64) -> Ino {
    let ino = file(engine, text).await;
    let extents = (0..count).map(|index| extent(index, if index + 1 == count { RARE } else { COMMON })).collect();
    let segments = [COMMON, RARE].map(|id| NewSegment { id, stored_bytes: 1, data_bytes: 1 });
    let update = FileUpdate { ino, extents, size: count * LEN, modified: None };
    engine.publish(&segments, vec![update]).await.unwrap();
    assert_eq!(engine.0.held(ino).await.unwrap().is_none(), count == MANY);
    ino
}

#[tokio::test]
async fn extents_of_a_segment_are_found_wherever_they_are() {
    let engine = engine().await;
    for (text, count) in [("held", 100), ("long", MANY)] {
        let ino = long_file(&engine, text, count).await;
        assert_eq!(engine.extents_in_segments(ino, &[RARE].into(), 0, 1).await.unwrap(), [extent(count - 1, RARE)]);
        assert_eq!(engine.extents_in_segments(ino, &[RARE].into(), count * LEN, 1).await.unwrap(), []);
        let both = engine.extents_in_segments(ino, &[RARE, COMMON].into(), (count - 2) * LEN, 9).await.unwrap();
        assert_eq!(both, [extent(count - 2, COMMON), extent(count - 1, RARE)]);
        assert_eq!(engine.extents_in_segments(ino, &[SegmentId(3)].into(), 0, 1).await.unwrap(), []);
        let few = engine.extents_in_segments(ino, &[COMMON].into(), 5 * LEN + 1, 3).await.unwrap();
        assert_eq!(few, [5, 6, 7].map(|index| extent(index, COMMON)));
        assert_eq!(engine.extents_from(ino, (count - 2) * LEN, 10).await.unwrap().len(), 2);
        assert_eq!(engine.extents_from(ino, 0, 70).await.unwrap().len(), 70);
    }
}

/// A crash leaves segments whose inodes never came to be; their numbers are given out again, to whatever is made next.
#[tokio::test]
async fn what_is_no_file_names_no_segment() {
    let engine = engine().await;
    let make = |node| Make { node, mode: 0o755, umask: 0 };
    let dir = engine.make(Caller::ROOT, Ino::ROOT, &name("dir"), &make(Node::Directory)).await.unwrap().ino;
    engine.make(Caller::ROOT, dir, &name("entry"), &make(Node::Regular)).await.unwrap();
    let link = make(Node::Symlink(bytes::Bytes::from_static(b"target")));
    let link = engine.make(Caller::ROOT, Ino::ROOT, &name("link"), &link).await.unwrap().ino;
    for ino in [dir, link] {
        assert!(engine.attr(ino).await.unwrap().size > 0);
        assert_eq!(engine.extents_in_segments(ino, &[RARE].into(), 0, 1).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_file_with_a_gap_is_no_proof_of_anything() {
    let engine = engine().await;
    let ino = long_file(&engine, "gap", MANY).await;
    let mut gap = crate::engine::names::Changing::default();
    gap.transaction.remove(&crate::record::RecordKey::Extent(ino, 500 * LEN));
    engine.0.finish(gap);
    let looked = engine.extents_in_segments(ino, &[SegmentId(3)].into(), 0, 1).await;
    assert!(matches!(looked, Err(crate::Error::Corrupt(_))), "{looked:?}");
}

/// What the proof that nothing names a segment rests on: a look at a file sees one moment of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_extent_that_moves_meanwhile_is_seen() {
    let engine = engine().await;
    let ino = long_file(&engine, "file", MANY).await;
    let last = (MANY - 1) * LEN;
    let overwrite = move |index| {
        let extents = vec![extent(index, COMMON)];
        vec![FileUpdate { ino, extents, size: MANY * LEN, modified: None }]
    };
    let (writer, ended) = (engine.clone(), Arc::new(AtomicBool::new(false)));
    let end = Arc::clone(&ended);
    let writing = tokio::spawn(async move {
        while !end.load(Ordering::Relaxed) {
            // From the end to the start, and back: at every moment at least one of them is there.
            writer.clone_range(ino, last, ino, 0, LEN).await.unwrap();
            writer.publish(&[], overwrite(MANY - 1)).await.unwrap();
            tokio::task::yield_now().await;
            writer.clone_range(ino, 0, ino, last, LEN).await.unwrap();
            writer.publish(&[], overwrite(0)).await.unwrap();
        }
    });
    for _ in 0..50 {
        assert_eq!(engine.extents_in_segments(ino, &[RARE].into(), 0, 1).await.unwrap().len(), 1);
    }
    ended.store(true, Ordering::Relaxed);
    writing.await.unwrap();
}

#[tokio::test]
async fn a_long_file_is_removed_in_steps() {
    let engine = engine().await;
    let ino = long_file(&engine, "file", MANY).await;
    let starts = engine.0.starts_of_each(ino, 0..u64::MAX, 4096).await.unwrap();
    assert!(starts.into_iter().eq((0..STEPS).map(|step| step * 4096 * LEN)));
    engine.unlink(Ino::ROOT, &name("file")).await.unwrap();
    engine.abandon(ino);
    let before = engine.0.pending.sequence();
    engine.reap(ino).await.unwrap();
    assert_eq!(engine.0.pending.sequence() - before, STEPS + 1, "its pieces, and then the inode");
    let (start, end) = crate::record::RecordKey::all_about(b'e', ino.0);
    assert_eq!(engine.0.scan(start..end, 1).await.unwrap(), []);
    assert_eq!(engine.totals().data_bytes, 0);
    engine.commit().await.unwrap();
    assert!(engine.segments().await.unwrap().iter().all(|segment| segment.live_bytes == 0));
}

/// Publishes an update without data; returns in how many transactions.
async fn cleared(engine: &Engine, ino: Ino, holes: Vec<Extent>, size: u64) -> u64 {
    let before = engine.0.pending.sequence();
    engine.publish(&[], vec![FileUpdate { ino, extents: holes, size, modified: None }]).await.unwrap();
    engine.0.pending.sequence() - before
}

#[tokio::test]
async fn a_long_file_is_cut_in_steps_and_a_short_one_at_once() {
    let engine = engine().await;
    let (long, short) = (long_file(&engine, "long", MANY).await, long_file(&engine, "short", 100).await);
    assert_eq!(cleared(&engine, short, Vec::new(), LEN / 2).await, 1);
    assert_eq!(cleared(&engine, long, Vec::new(), LEN / 2).await, STEPS);
    for ino in [long, short] {
        assert_eq!(engine.attr(ino).await.unwrap().size, LEN / 2);
        assert_eq!(engine.extents(ino, 0..LEN).await.unwrap(), [Extent { len: LEN / 2, ..extent(0, COMMON) }]);
    }
    assert_eq!(engine.totals().data_bytes, LEN);
}

#[tokio::test]
async fn a_long_file_gets_a_large_hole_in_steps() {
    let engine = engine().await;
    let ino = long_file(&engine, "long", MANY).await;
    let (size, punched) = (MANY * LEN, LEN..(MANY - 1) * LEN);
    let hole = Extent { offset: punched.start, len: punched.end - punched.start, content: Content::Hole };
    assert_eq!(cleared(&engine, ino, vec![hole.clone()], size).await, STEPS);
    let left = engine.extents(ino, 0..size).await.unwrap();
    assert_eq!(left, [extent(0, COMMON), hole, extent(MANY - 1, RARE)]);
    assert_eq!(engine.attr(ino).await.unwrap().size, size);
}

/// Clones a whole file; returns in how many steps.
async fn clone_all(engine: &Engine, from: Ino, to: Ino, size: u64) -> u64 {
    let (mut done, mut steps) = (0, 0);
    while done < size {
        let cloned = engine.clone_range(from, done, to, done, size - done).await.unwrap();
        assert!(cloned > 0 && cloned <= 4096 * LEN, "{cloned}");
        done += cloned;
        steps += 1;
    }
    steps
}

#[tokio::test]
async fn a_long_file_is_cloned_in_steps() {
    let engine = engine().await;
    let size = MANY * LEN;
    let long = long_file(&engine, "long", MANY).await;
    let to = file(&engine, "to").await;
    assert_eq!(clone_all(&engine, long, to, size).await, STEPS);
    assert_eq!(engine.extents(to, 0..size).await.unwrap(), engine.extents(long, 0..size).await.unwrap());
    // What is replaced counts as well: one extent takes the place of all of these.
    let hole = file(&engine, "hole").await;
    let content = vec![Extent { offset: 0, len: size, content: Content::Hole }];
    engine.publish(&[], vec![FileUpdate { ino: hole, extents: content, size, modified: None }]).await.unwrap();
    assert_eq!(clone_all(&engine, hole, to, size).await, STEPS);
    assert_eq!(engine.attr(to).await.unwrap().blocks, 0);
}
