//! Names, directories, and inodes without names.

use super::planted::{Planted, name, open};
use bytes::Bytes;
use stoa_meta::record::{Bucket, Dentry, RecordKey};
use stoa_vfs::{Ino, Kind, Vfs};

fn one() -> Option<Bytes> {
    Some(Bytes::from_static(&[1]))
}

/// The record of a bucket with this entry alone.
fn alone(dentry: Dentry) -> Option<Bytes> {
    Bucket { dentries: vec![dentry] }.encode()
}

#[tokio::test]
async fn a_name_under_the_hash_of_another() {
    let planted = Planted::new().await;
    let (key, _) = planted.dentry("small");
    let value = planted.value(&key);
    let changes = vec![(key, None), (RecordKey::Bucket(Ino::ROOT, 77), Some(value))];
    planted.only_reports(changes, &[r#""small" in directory 1 is kept under the hash of another name"#]).await;
}

#[tokio::test]
async fn a_name_twice_in_a_bucket() {
    let planted = Planted::new().await;
    let (key, dentry) = planted.dentry("small");
    let bucket = Bucket { dentries: vec![dentry.clone(), dentry] };
    let changes = vec![
        (key, bucket.encode()),
        planted.inode(planted.small, |inode| inode.nlink = 2),
        planted.inode(Ino::ROOT, |inode| inode.size += 1),
    ];
    let problems = [r#""small" is in directory 1 twice"#, r#""small" in directory 1 has slot 0 after"#];
    planted.only_reports(changes, &problems).await;
}

#[tokio::test]
async fn a_name_of_nothing_and_in_nothing() {
    let planted = Planted::new().await;
    let (key, _) = planted.dentry("small");
    let nothing = Bucket::default().with(&name("small"), Ino(8), Kind::Regular).unwrap();
    let changes = vec![
        (key, nothing.encode()),
        (RecordKey::Bucket(planted.big, 5), alone(planted.dentry("link").1)),
        planted.inode(planted.link, |inode| inode.nlink = 2),
        planted.superblock(|superblock| superblock.next_ino = 9),
    ];
    planted.plant(changes).await;
    let problems = [
        r#""small" in directory 1 names inode 8, which does not exist"#,
        "inode 6 has no name",
        r#""link" is in inode 4, which is no directory"#,
        r#""link" in directory 4 is kept under the hash of another name"#,
    ];
    planted.check(&problems).await;
}

/// Moves `/dir` into `/dir/sub`, with all counts right.
fn looped(planted: &Planted) -> Vec<super::planted::Change> {
    let (key, dentry) = planted.dentry("dir");
    let RecordKey::Bucket(_, hash) = key else { panic!("{key:?}") };
    vec![
        (key, None),
        (RecordKey::Bucket(planted.sub, hash), alone(dentry)),
        planted.inode(Ino::ROOT, |inode| (inode.nlink, inode.size) = (inode.nlink - 1, inode.size - 1)),
        planted.inode(planted.sub, |inode| (inode.nlink, inode.size) = (3, 1)),
        planted.inode(planted.dir, |inode| inode.parent = planted.sub),
    ]
}

#[tokio::test]
async fn directories_that_hold_each_other() {
    let planted = Planted::new().await;
    planted
        .only_reports(
            looped(&planted),
            &["directories hold each other, and can't be reached from the root, nor what is in them: 2 in 3"],
        )
        .await;
}

#[tokio::test]
async fn a_root_with_a_name() {
    let planted = Planted::new().await;
    let (key, mut dentry) = planted.dentry("sub");
    dentry.ino = Ino::ROOT;
    planted.plant(vec![(key, alone(dentry)), planted.inode(Ino::ROOT, |inode| inode.parent = planted.dir)]).await;
    planted.check(&["directory 1 has 1 names", "inode 3 has no name"]).await;
}

#[tokio::test]
async fn no_root() {
    let planted = Planted::new().await;
    planted.plant(vec![(RecordKey::Inode(Ino::ROOT), None)]).await;
    let in_nothing = "is in inode 1, which is no directory";
    planted.check(&["there is no root directory", in_nothing, in_nothing, in_nothing, "the volume counts"]).await;
}

#[tokio::test]
async fn what_waits_to_be_removed_and_is_not_there() {
    let planted = Planted::new().await;
    let changes = vec![(RecordKey::Orphan(Ino(3000)), one()), planted.superblock(|superblock| superblock.next_ino = 4)];
    let number = "the next inode is to be number 4, but 3000 is in use";
    planted.repairs(changes, &["inode 3000 waits to be removed, and does not exist", number]).await;
}

#[tokio::test]
async fn what_waits_to_be_removed_and_has_a_name() {
    let planted = Planted::new().await;
    let changes = vec![(RecordKey::Orphan(planted.small), one())];
    planted.mends(changes, &["inode 6 has a name, but waits to be removed"]).await;
}

/// Checks that a lost inode is named in `/lost+found`, with its content, and survives the next open.
async fn is_found_again(planted: &Planted, ino: Ino) {
    for _ in 0..2 {
        let volume = open(&planted.store).await;
        let found = volume.lookup(Ino::ROOT, &name("lost+found")).await.unwrap().attr.ino;
        assert_eq!(volume.lookup(found, &name(&ino.to_string())).await.unwrap().attr.ino, ino);
        volume.close().await.unwrap();
        planted.check(&[]).await;
    }
}

#[tokio::test]
async fn an_inode_without_links_that_nothing_would_remove() {
    let planted = Planted::new().await;
    let (key, _) = planted.dentry("small");
    let changes = vec![
        (key, None),
        planted.inode(planted.small, |inode| inode.nlink = 0),
        planted.inode(Ino::ROOT, |inode| inode.size -= 1),
    ];
    planted.repairs(changes, &["inode 6 has no name"]).await;
    is_found_again(&planted, planted.small).await;
}

/// Only one without links is known to be unwanted. The other gets a name again, and is not removed by the next open.
#[tokio::test]
async fn what_waits_to_be_removed_and_counts_a_link() {
    let planted = Planted::new().await;
    let (key, _) = planted.dentry("small");
    let changes =
        vec![(key, None), (RecordKey::Orphan(planted.small), one()), planted.inode(Ino::ROOT, |inode| inode.size -= 1)];
    planted.repairs(changes, &["inode 6 has no name"]).await;
    is_found_again(&planted, planted.small).await;
}

#[tokio::test]
async fn a_directory_that_lost_its_name_and_its_counts() {
    let planted = Planted::new().await;
    let (key, _) = planted.dentry("dir");
    let changes = vec![
        (key, None),
        planted.inode(planted.dir, |inode| (inode.nlink, inode.size) = (0, 0)),
        planted.inode(Ino::ROOT, |inode| (inode.nlink, inode.size) = (inode.nlink - 1, inode.size - 1)),
    ];
    let problems =
        ["inode 2 has no name", "inode 2 counts 0 links; it has 3", "directory 2 counts 0 entries; it has 3"];
    planted.repairs(changes, &problems).await;
    is_found_again(&planted, planted.dir).await;
}

/// What is in it must not go with it, neither by the repair nor by an open before that.
#[tokio::test]
async fn a_directory_that_waits_to_be_removed_and_is_not_empty() {
    let planted = Planted::new().await;
    let (key, _) = planted.dentry("dir");
    let changes = vec![
        (key, None),
        (RecordKey::Orphan(planted.dir), one()),
        planted.inode(planted.dir, |inode| inode.nlink = 0),
        planted.inode(Ino::ROOT, |inode| (inode.nlink, inode.size) = (inode.nlink - 1, inode.size - 1)),
    ];
    planted.repairs(changes, &["inode 2 has no name", "inode 2 counts 0 links; it has 3"]).await;
    is_found_again(&planted, planted.dir).await;
}
