use crate::engine::Engine;
use crate::engine::tests::{engine, file, name};
use crate::record::Inode;
use crate::{Fix, Meta, NewSegment, SegmentId, SegmentUse, Totals};
use stoa_vfs::{Caller, Cookie, Ino, Make, Node};

#[tokio::test]
async fn counts_of_a_scan_do_not_undo_what_naming_adds() {
    let engine = engine().await;
    let lost = file(&engine, "a").await;
    engine.unlink(Ino::ROOT, &name("a")).await.unwrap();
    let totals = Totals { data_bytes: 0, inodes: 2 };
    engine
        .fix(&[Fix::Unnamed(lost), Fix::Totals(totals), Fix::Entries(Ino::ROOT, 0), Fix::Links(Ino::ROOT, 2)])
        .await
        .unwrap();
    let root = engine.attr(Ino::ROOT).await.unwrap();
    assert_eq!(root.nlink, 3);
    assert_eq!(engine.totals().inodes, 3);
    assert_eq!(engine.attr(lost).await.unwrap().nlink, 1);
}

#[tokio::test]
async fn a_taken_name_gets_a_number() {
    let engine = engine().await;
    file(&engine, "lost+found").await;
    let lost = file(&engine, "a").await;
    let make = |node| Make { node, mode: 0o700, umask: 0 };
    let found = engine.make(Caller::ROOT, Ino::ROOT, &name("lost+found.1"), &make(Node::Directory)).await.unwrap().ino;
    engine.make(Caller::ROOT, found, &name(&lost.to_string()), &make(Node::Regular)).await.unwrap();
    engine.unlink(Ino::ROOT, &name("a")).await.unwrap();
    engine.fix(&[Fix::Unnamed(lost)]).await.unwrap();
    assert_eq!(engine.lookup(found, &name(&format!("{lost}.1"))).await.unwrap().ino, lost);
    assert_eq!(engine.readdir(found, Cookie(0), 10, true).await.unwrap().entries.len(), 2);
}

async fn committed(engine: &Engine, fix: Fix) {
    engine.fix(&[fix]).await.unwrap();
    engine.commit().await.unwrap();
}

#[tokio::test]
async fn the_record_of_a_segment_is_set_whether_there_was_one_or_not() {
    let engine = engine().await;
    let id = SegmentId::new(1, 2);
    let known =
        |stored_bytes, live_bytes| SegmentUse { segment: NewSegment { id, stored_bytes, data_bytes: 7 }, live_bytes };
    committed(&engine, Fix::Segment(known(5, 3))).await;
    assert_eq!(engine.segments().await.unwrap(), [known(5, 3)]);
    committed(&engine, Fix::Segment(known(6, 2))).await;
    assert_eq!(engine.segments().await.unwrap(), [known(6, 2)]);
}

#[tokio::test]
async fn a_sharer_is_added_and_a_wait_for_removal_ended() {
    let engine = engine().await;
    let id = SegmentId::new(1, 2);
    committed(&engine, Fix::Shared(id, Ino(9))).await;
    assert_eq!(engine.sharers(id).await.unwrap(), [Ino(9)]);
    file(&engine, "a").await;
    let linked = engine.unlink(Ino::ROOT, &name("a")).await.unwrap();
    committed(&engine, Fix::NotOrphan(linked.ino)).await;
    assert_eq!(engine.orphans().await.unwrap(), []);
}

#[tokio::test]
async fn numbers_in_use_are_skipped_also_by_lost_and_found() {
    let engine = engine().await;
    let lost = file(&engine, "a").await;
    engine.unlink(Ino::ROOT, &name("a")).await.unwrap();
    engine.fix(&[Fix::Unnamed(lost), Fix::NextIno(Ino(100))]).await.unwrap();
    assert_eq!(engine.lookup(Ino::ROOT, &name("lost+found")).await.unwrap().ino, Ino(100));
    engine.fix(&[Fix::NextIno(Ino(50))]).await.unwrap();
    assert_eq!(file(&engine, "b").await, Ino(101));
}

/// What only the superblock says is durable with the next commit too.
#[tokio::test]
async fn a_fix_of_the_superblock_alone_is_committed() {
    let engine = engine().await;
    engine.commit().await.unwrap();
    engine.fix(&[Fix::NextIno(Ino(100))]).await.unwrap();
    assert!(engine.uncommitted() > 0);
}

#[tokio::test]
async fn flags_of_attributes_are_set_and_others_stay() {
    let engine = engine().await;
    let make = Make { node: Node::Regular, mode: 0o644, umask: 0 };
    let made = engine.make_unnamed(Caller::ROOT, Ino::ROOT, &make).await.unwrap().ino;
    committed(&engine, Fix::Attributes(made, Inode::XATTR | Inode::CAPABILITY)).await;
    let flags = engine.0.inode(made).await.unwrap().flags;
    assert_eq!(flags, Inode::XATTR | Inode::CAPABILITY | Inode::LINKABLE);
    committed(&engine, Fix::Attributes(made, 0)).await;
    assert_eq!(engine.0.inode(made).await.unwrap().flags, Inode::LINKABLE);
}
