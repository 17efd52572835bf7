//! Attributes, flags, counts, numbers.

use super::planted::{Planted, open};
use bytes::Bytes;
use stoa_meta::record::{Inode, RecordKey, encode_extent};
use stoa_meta::{Content, Extent};
use stoa_vfs::{ACL_ACCESS, ACL_DEFAULT, Ino, Vfs};

fn one() -> Option<Bytes> {
    Some(Bytes::from_static(&[1]))
}

fn attribute(ino: Ino, name: &[u8]) -> RecordKey {
    RecordKey::Xattr(ino, Bytes::copy_from_slice(name))
}

#[tokio::test]
async fn attributes_of_an_inode_that_is_not_there() {
    let planted = Planted::new().await;
    let free = planted.link.0 + 1;
    let changes = vec![
        (attribute(Ino(free), b"user.a"), one()),
        (attribute(Ino(free), b"user.b"), one()),
        planted.superblock(|superblock| superblock.next_ino = free + 1),
    ];
    planted.only_reports(changes, &["there are 2 attributes of inode 8, which does not exist"]).await;
}

#[tokio::test]
async fn a_flag_that_no_attribute_asks_for() {
    let planted = Planted::new().await;
    let flags = Inode::CAPABILITY | Inode::DEFAULT_ACL;
    let damaged = planted.inode(planted.small, |inode| inode.flags |= flags);
    planted.mends(vec![damaged], &["inode 6 has flags 0xf of extended attributes; those it has ask for 0x3"]).await;
}

#[tokio::test]
async fn attributes_that_no_flag_tells_of() {
    let planted = Planted::new().await;
    let damaged = planted.inode(planted.small, |inode| inode.flags = 0);
    planted.mends(vec![damaged], &["inode 6 has flags 0x0 of extended attributes; those it has ask for 0x3"]).await;
    let volume = open(&planted.store).await;
    assert_eq!(volume.getxattr(planted.small, b"user.a").await.unwrap(), "1");
    volume.close().await.unwrap();
}

#[tokio::test]
async fn that_an_inode_once_had_attributes_may_be_remembered() {
    let planted = Planted::new().await;
    planted.plant(vec![planted.inode(planted.big, |inode| inode.flags = Inode::XATTR)]).await;
    planted.check(&[]).await;
}

#[tokio::test]
async fn an_acl_that_is_none() {
    let planted = Planted::new().await;
    let damaged = vec![(attribute(planted.small, ACL_ACCESS), one())];
    planted.only_reports(damaged, &["the attribute system.posix_acl_access of inode 6 is no ACL"]).await;
    let empty = vec![
        (attribute(planted.small, ACL_ACCESS), Some(super::planted::acl())),
        (attribute(planted.dir, ACL_DEFAULT), Some(Bytes::new())),
        planted.inode(planted.dir, |inode| inode.flags = Inode::XATTR | Inode::DEFAULT_ACL),
    ];
    planted.only_reports(empty, &["the attribute system.posix_acl_default of inode 2 is no ACL"]).await;
}

#[tokio::test]
async fn the_next_number_is_in_use() {
    let planted = Planted::new().await;
    let damaged = planted.superblock(|superblock| superblock.next_ino = 5);
    planted.mends(vec![damaged], &["the next inode is to be number 5, but 7 is in use"]).await;
}

/// A file that got the number would get the extents, the attributes and the names too.
#[tokio::test]
async fn a_number_is_in_use_also_where_there_is_no_inode() {
    let planted = Planted::new().await;
    let hole = Extent { offset: 0, len: 9, content: Content::Hole };
    planted.plant(vec![(RecordKey::Extent(Ino(50), hole.end()), Some(encode_extent(&hole)))]).await;
    let stray = "there are extents of inode 50, which does not exist";
    planted.check(&[stray, "the next inode is to be number 8, but 50 is in use"]).await;
    let volume = open(&planted.store).await;
    let options = crate::FsckOptions { data: false, repair: true };
    let report = volume.fsck(options, &crate::Silent).await.unwrap();
    assert_eq!(report.problems_left, 1, "{:?}", report.problems);
    volume.close().await.unwrap();
    planted.check(&[stray]).await;
}

#[tokio::test]
async fn every_count_of_inodes_and_of_the_volume() {
    let planted = Planted::new().await;
    let changes = vec![
        planted.inode(planted.big, |inode| (inode.nlink, inode.data_bytes) = (3, 299_999)),
        planted.inode(planted.dir, |inode| (inode.nlink, inode.size) = (9, 8)),
        planted.superblock(|superblock| (superblock.inodes, superblock.data_bytes) = (1, 2)),
    ];
    let problems = [
        "inode 4 counts 3 links; it has 1",
        "inode 4 counts 299999 bytes of data; its extents have 300000",
        "inode 2 counts 9 links; it has 3",
        "directory 2 counts 8 entries; it has 3",
        "the volume counts Totals { data_bytes: 2, inodes: 1 }; there are Totals { data_bytes: 600005, inodes: 7 }",
    ];
    planted.mends(changes, &problems).await;
}

#[tokio::test]
async fn a_file_that_its_extents_do_not_cover() {
    let planted = Planted::new().await;
    let (key, extent) = planted.extents(planted.small).remove(0);
    let hole = Extent { offset: extent.end() + 5, len: 5, content: Content::Hole };
    let changes = vec![(RecordKey::Extent(planted.small, hole.end()), Some(encode_extent(&hole)))];
    planted.only_reports(changes, &["inode 6 has neither data nor a hole at offset 5"]).await;
    let over = Extent { offset: 3, ..hole };
    let changes = vec![
        (RecordKey::Extent(planted.small, extent.end() + 10), None),
        (RecordKey::Extent(planted.small, over.end()), Some(encode_extent(&over))),
    ];
    planted.only_reports(changes, &["inode 6 has two extents at offset 3"]).await;
    let changes = vec![(RecordKey::Extent(planted.small, over.end()), None), (key, None)];
    let problems =
        ["inode 6 is 5 bytes long; its extents end at 0", "inode 6 counts 5 bytes", "the volume counts Totals"];
    planted.plant(changes).await;
    planted.check(&problems).await;
}

#[tokio::test]
async fn a_symbolic_link_of_another_length() {
    let planted = Planted::new().await;
    let damaged = planted.inode(planted.link, |inode| inode.size = 9);
    planted.only_reports(vec![damaged], &["symbolic link 7 is 9 bytes long; its target has 3"]).await;
}

#[tokio::test]
async fn counts_stay_where_a_record_cannot_be_read() {
    let planted = Planted::new().await;
    let (bucket, _) = planted.dentry("big");
    let changes =
        vec![(bucket, Some(Bytes::from_static(&[9]))), planted.superblock(|superblock| superblock.next_ino = 5)];
    planted.plant(changes).await;
    let problems = [
        "unknown version of a record",
        "inode 4 has no name",
        "directory 2 counts 3 entries; it has 2",
        "the next inode is to be number 5, but 7 is in use",
    ];
    planted.check(&problems).await;
    let volume = open(&planted.store).await;
    let options = crate::FsckOptions { data: false, repair: true };
    let report = volume.fsck(options, &crate::Silent).await.unwrap();
    let left: Vec<_> = report.problems.iter().filter(|problem| !problem.repaired).collect();
    assert!(left.len() == 2 && left[1].what.contains("entries"), "{left:?}");
    assert_eq!(volume.getattr(planted.dir).await.unwrap().size, 3);
    volume.close().await.unwrap();
}
