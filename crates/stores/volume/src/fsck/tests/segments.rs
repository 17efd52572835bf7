//! Segments and their records.

use super::planted::{Planted, big_data, name, open, read};
use crate::{FsckOptions, Silent};
use bytes::Bytes;
use object_store::ObjectStoreExt;
use stoa_meta::record::{RecordKey, encode_extent};
use stoa_meta::{Content, SegmentId};
use stoa_vfs::Vfs;

/// A directory entry, and the footer.
const TAIL_BYTES: usize = 37 * 3 + 28;

#[tokio::test]
async fn an_object_that_is_another_segment() {
    let planted = Planted::new().await;
    planted.change_object(|object| object[8] ^= 1).await;
    planted.only_reports(Vec::new(), &["its header is that of another segment; it holds data of inodes 4, 5"]).await;
    planted.change_object(|object| object[0] ^= 1).await;
    planted.only_reports(Vec::new(), &["its header is not one of a segment"]).await;
}

/// The frames are all there: so it is said of each file that it can be read.
#[tokio::test]
async fn frames_are_verified_also_without_a_directory() {
    let planted = Planted::new().await;
    planted.change_object(|object| *object.last_mut().unwrap() ^= 1).await;
    let report = planted.check(&["its footer is not one of a segment; it holds data of inodes 4, 5"]).await;
    assert_eq!(report.frames_verified, 3);
    planted.change_object(|object| object[16] ^= 1).await;
    planted.check(&["its footer is not one of a segment", "the frame at 16, of inode 4 near offset 0: "]).await;
}

#[tokio::test]
async fn an_object_cut_short() {
    let planted = Planted::new().await;
    planted.change_object(|object| object.truncate(100_000)).await;
    let problem = "its footer is not one of a segment, and it has 100000 bytes instead of ";
    planted.plant(Vec::new()).await;
    let beyond = "it lies beyond the end of the object";
    planted.check(&[problem, "the frame at 16, ", beyond, beyond]).await;
    planted.change_object(|object| object.truncate(10)).await;
    let report = open(&planted.store).await.fsck(FsckOptions::default(), &Silent).await.unwrap();
    assert!(report.problems[0].what.contains("it is cut short, and it has 10 bytes"), "{report:?}");
}

#[tokio::test]
async fn an_object_that_is_gone() {
    let planted = Planted::new().await;
    planted.store.delete(&planted.segment_path()).await.unwrap();
    planted.only_reports(Vec::new(), &["is missing; it holds data of inodes 4, 5"]).await;
    // Also when it counts as dead: what counts is who names it.
    let dead = planted.segment(|record| record.live_bytes = 0);
    planted.plant(vec![dead]).await;
    planted.check(&["is missing; it holds data of inodes 4, 5", "counts 0 live bytes; there are 600000"]).await;
}

#[tokio::test]
async fn every_count_of_a_segment() {
    let planted = Planted::new().await;
    let damaged = planted.segment(|record| {
        record.live_bytes = 1;
        record.stored_bytes += 1;
        record.data_bytes = 3;
    });
    let problem = "counts 1 live bytes; there are 600000, and 300156 stored bytes; there are 300155, and 3 bytes of data; there are 300000";
    planted.mends(vec![damaged], &[problem]).await;
}

#[tokio::test]
async fn a_segment_without_a_record_gets_one_if_it_is_there() {
    let planted = Planted::new().await;
    let changes = vec![(RecordKey::Segment(planted.segment), None)];
    planted.mends(changes, &["is named by extents, but has no record"]).await;
}

#[tokio::test]
async fn a_segment_that_is_neither_there_nor_known_keeps_nothing_from_being_repaired() {
    let planted = Planted::new().await;
    planted.store.delete(&planted.segment_path()).await.unwrap();
    let changes =
        vec![(RecordKey::Segment(planted.segment), None), planted.inode(planted.dir, |inode| inode.nlink = 7)];
    planted.plant(changes).await;
    let volume = open(&planted.store).await;
    let report = volume.fsck(FsckOptions { data: false, repair: true }, &Silent).await.unwrap();
    let repaired: Vec<_> = report.problems.iter().map(|problem| (problem.what.as_str(), problem.repaired)).collect();
    assert_eq!(repaired.len(), 3, "{repaired:?}");
    assert_eq!(repaired[2], ("inode 2 counts 7 links; it has 3", true));
    assert_eq!((report.problems_left, report.orphan_segments), (2, 0));
    assert_eq!(volume.getattr(planted.dir).await.unwrap().nlink, 3);
    assert!(volume.meta.segments().await.unwrap().is_empty());
    volume.close().await.unwrap();
}

/// Without the record the cleaner would take the segment for dead once the file that it was written for is gone.
#[tokio::test]
async fn a_sharer_that_nothing_tells_of() {
    let planted = Planted::new().await;
    let changes = vec![(RecordKey::Shared(planted.segment, planted.copy), None)];
    planted.mends(changes, &["holds data of inode 5, and nothing says so"]).await;
    let volume = open(&planted.store).await;
    volume.unlink(planted.dir, &name("big")).await.unwrap();
    volume.sync().await.unwrap();
    volume.gc(&Silent).await.unwrap();
    assert_eq!(read(&volume, planted.copy).await.unwrap(), big_data());
    volume.close().await.unwrap();
}

#[tokio::test]
async fn sharing_of_a_segment_that_is_not_known() {
    let planted = Planted::new().await;
    let changes = vec![(RecordKey::Shared(SegmentId(3), planted.copy), Some(Bytes::from_static(&[1])))];
    planted.only_reports(changes, &["segment 0000000000000003 is said to be shared, and is not known"]).await;
}

/// The extent of `copy`, with other frames.
fn misled(planted: &Planted, change: impl FnOnce(&mut stoa_meta::Run)) -> (RecordKey, Option<Bytes>) {
    let (key, mut extent) = planted.extents(planted.copy).remove(0);
    let Content::Stored(run) = &mut extent.content else { panic!("{extent:?}") };
    change(run);
    (key, Some(encode_extent(&extent)))
}

#[tokio::test]
async fn an_extent_beyond_the_data() {
    let planted = Planted::new().await;
    let damaged = misled(&planted, |run| run.stored_offset = 299_999);
    planted.plant(vec![damaged]).await;
    let no_such = "has no such frames at 299999 as inode 5 names at offset 0";
    let beyond = "it lies beyond the end of the object";
    let report = planted.check(&[no_such, beyond, beyond, beyond]).await;
    assert_eq!(report.frames_verified, 6);
}

#[tokio::test]
async fn an_extent_with_a_frame_that_the_segment_does_not_have() {
    let planted = Planted::new().await;
    let damaged = misled(&planted, |run| run.frames[1].checksum ^= 1);
    planted.plant(vec![damaged]).await;
    let no_such = "has no such frames at 16 as inode 5 names at offset 0";
    planted.check(&[no_such, "of inode 5 near offset 0: its checksum is wrong"]).await;
}

#[tokio::test]
async fn an_extent_whose_frames_go_on_after_the_last() {
    let planted = Planted::new().await;
    let damaged = misled(&planted, |run| run.frames.push(run.frames[0]));
    planted.plant(vec![damaged]).await;
    // It is not needed, and not verified: nobody reads it.
    let report = planted.check(&["has no such frames at 16 as inode 5"]).await;
    assert_eq!(report.frames_verified, 3);
}

#[tokio::test]
async fn frames_that_overlap() {
    let planted = Planted::new().await;
    planted
        .change_object(|object| {
            let start = object.len() - TAIL_BYTES;
            let (entries, footer) = object[start..].split_at_mut(37 * 3);
            // The second frame is said to start a byte early.
            entries[37 + 16] -= 1;
            let sum = crate::segment::checksum([&*entries]);
            footer[12..20].copy_from_slice(&sum.to_le_bytes());
        })
        .await;
    planted.only_reports(Vec::new(), &["its frames do not lie back to back; it holds data of inodes 4, 5"]).await;
}

#[tokio::test]
async fn an_object_that_nothing_names_is_no_fault() {
    let planted = Planted::new().await;
    let path = crate::layout::segment_path(SegmentId(5));
    planted.store.put(&path, "x".into()).await.unwrap();
    assert_eq!(planted.check(&[]).await.orphan_segments, 1);
}
