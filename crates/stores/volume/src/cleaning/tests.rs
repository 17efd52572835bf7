use super::*;
use crate::{FormatOptions, OpenOptions, Owner, Silent};
use object_store::memory::InMemory;
use rand::rngs::SmallRng;
use rand::{RngCore, SeedableRng};
use stoa_meta::{Codec, Content, FileUpdate, FrameRef, NewSegment, Run};
use stoa_vfs::{Caller, Make, Name, Node, OpenFlags, Vfs, WriteFlags};

const LEN: u32 = 64 << 10;

/// A volume that commits only when it is told to.
async fn open() -> Arc<Volume> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    crate::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
    let options =
        OpenOptions { commit_interval: Duration::from_secs(3600), ..OpenOptions::new(Owner::new("test", "test")) };
    Volume::open(store, options).await.unwrap()
}

/// The publisher names a segment, and then what is in it, file by file. When the namespace is committed in between, nothing of the
/// segment is alive in the store.
#[tokio::test]
async fn a_segment_that_was_committed_before_its_extents_is_not_dead() {
    let volume = open().await;
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    let ino = volume.make(Caller::ROOT, Ino::ROOT, &Name::new("file").unwrap(), &make).await.unwrap().attr.ino;
    // Of another mount, so that it is settled. There is no such object, so that looking at who names it finds nobody.
    let id = SegmentId::new(0, 7);
    let segment = NewSegment { id, stored_bytes: LEN.into(), data_bytes: LEN.into() };
    volume.meta.publish(&[segment], Vec::new()).await.unwrap();
    volume.commit().await.unwrap();
    let frame = FrameRef { stored_len: LEN, data_len: LEN, checksum: 1, codec: Codec::Raw };
    let run = Run { segment: id, stored_offset: 0, skip: 0, frames: vec![frame] };
    let extents = vec![Extent { offset: 0, len: LEN.into(), content: Content::Stored(run) }];
    let update = FileUpdate { ino, extents, size: LEN.into(), modified: None };
    volume.meta.publish(&[], vec![update]).await.unwrap();

    let report = volume.collect(&Silent).await.unwrap();
    assert_eq!(report.deleted_segments, 0, "{report:?}");
    let live: Vec<u64> = volume.meta.segments().await.unwrap().iter().map(|segment| segment.live_bytes).collect();
    assert_eq!(live, [u64::from(LEN)]);
}

/// Who closes the volume waits for the collection under way, which must not wait for what nobody does any more.
#[tokio::test]
async fn a_collection_ends_when_the_log_does() {
    const SOON: Duration = Duration::from_secs(30);
    let volume = open().await;
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    let ino = volume.make(Caller::ROOT, Ino::ROOT, &Name::new("file").unwrap(), &make).await.unwrap().attr.ino;
    let handle = volume.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap();
    // Nothing of which compresses much; then most of it dies.
    let mut noise = vec![0; 1 << 20];
    SmallRng::seed_from_u64(7).fill_bytes(&mut noise);
    for bytes in [&noise[..], &noise[..700 << 10]] {
        volume.write(ino, handle, 0, Bytes::copy_from_slice(bytes), WriteFlags::default()).await.unwrap();
        volume.fsync(ino).await.unwrap();
    }
    let stop = async { volume.abandon() };
    let (waiting, ()) = tokio::time::timeout(SOON, async { tokio::join!(volume.log.drain(), stop) }).await.unwrap();
    assert!(waiting.is_err());
    let collected = tokio::time::timeout(SOON, volume.collect(&Silent)).await.unwrap();
    assert!(collected.is_err(), "there was something to move: {collected:?}");
    // As `close` does.
    let _ended = volume.collecting.try_lock().unwrap();
}
