use super::*;
use crate::engine::Engine;
use crate::engine::tests::{ROOT, engine, file, open};
use crate::{Content, Extent, FileUpdate, Meta, NewSegment, Run};
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use stoa_vfs::Ino;

fn stored(segment: SegmentId, len: u64) -> Extent {
    let frame = crate::FrameRef { stored_len: 4096, data_len: 4096, checksum: 1, codec: crate::Codec::Raw };
    let run = Run { segment, stored_offset: 0, skip: 0, frames: vec![frame] };
    Extent { offset: 0, len, content: Content::Stored(run) }
}

fn update(ino: Ino, extents: Vec<Extent>, size: u64) -> FileUpdate {
    FileUpdate { ino, extents, size, modified: None }
}

#[tokio::test]
async fn a_segment_without_a_record_does_not_end_the_mount() {
    let engine = engine().await;
    let file = file(&engine, "a").await;
    engine.publish(&[], vec![update(file, vec![stored(SegmentId::new(1, 2), 4096)], 4096)]).await.unwrap();
    engine.commit().await.unwrap();
    assert!(engine.segments().await.unwrap().is_empty());
    engine.check().unwrap();
}

#[tokio::test]
async fn live_bytes_stop_at_zero() {
    let engine = engine().await;
    let file = file(&engine, "a").await;
    let id = SegmentId::new(1, 2);
    let segment = NewSegment { id, stored_bytes: 4096, data_bytes: 4096 };
    engine.publish(&[segment], vec![update(file, vec![stored(id, 4096)], 4096)]).await.unwrap();
    engine.commit().await.unwrap();
    engine.fix(&[crate::Fix::Segment(crate::SegmentUse { segment, live_bytes: 1 })]).await.unwrap();
    engine.commit().await.unwrap();
    engine.publish(&[], vec![update(file, vec![], 0)]).await.unwrap();
    engine.commit().await.unwrap();
    assert_eq!(engine.segments().await.unwrap()[0].live_bytes, 0);
}

/// Damage where only segments are counted.
#[tokio::test]
async fn a_segment_whose_record_is_damaged_does_not_end_the_mount() {
    const MARK: u64 = 0x1122_3344_5566_7788;
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    Engine::format(Arc::clone(&store), ROOT).await.unwrap();
    let first = open(&store).await;
    let file = file(&first, "a").await;
    // So many that their records fill blocks of their own.
    let segment = |number| NewSegment {
        id: SegmentId::new(1, number),
        stored_bytes: if number == 500 { MARK } else { 4096 },
        data_bytes: 4096,
    };
    let segments: Vec<NewSegment> = (0..1000).map(segment).collect();
    let id = SegmentId::new(1, 500);
    first.publish(&segments, vec![update(file, vec![stored(id, 4096)], 4096)]).await.unwrap();
    first.close().await.unwrap();
    let tables: Vec<_> = store.list(Some(&Path::from("meta/compacted"))).try_collect().await.unwrap();
    let mut damaged = 0;
    for table in tables {
        let mut content = store.get(&table.location).await.unwrap().bytes().await.unwrap().to_vec();
        let Some(at) = content.windows(8).position(|bytes| bytes == MARK.to_le_bytes()) else { continue };
        content[at] ^= 1;
        store.put(&table.location, content.into()).await.unwrap();
        damaged += 1;
    }
    assert_eq!(damaged, 1);

    let second = open(&store).await;
    second.publish(&[], vec![update(file, vec![], 0)]).await.unwrap();
    second.commit().await.unwrap();
    second.check().unwrap();
}

#[tokio::test]
async fn a_commit_that_panics_is_the_last() {
    let engine = engine().await;
    let inner = Arc::clone(&engine.0);
    let ended = tokio::spawn(async move { inner.whole(async { panic!("halfway") }).await }).await;
    assert!(ended.unwrap_err().is_panic());
    engine.check().unwrap_err();
    engine.commit().await.unwrap_err();
}
