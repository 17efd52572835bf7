//! A volume with something of everything, to be damaged.

use crate::{FormatOptions, FsckOptions, FsckReport, OpenOptions, Owner, Silent, Volume};
use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::collections::BTreeMap;
use std::sync::Arc;
use stoa_meta::record::{Bucket, Dentry, Inode, Key, RecordKey, SegmentRecord, Superblock, decode_extent};
use stoa_meta::{Extent, SegmentId, testing};
use stoa_vfs::{ACL_ACCESS, Caller, Ino, Make, Name, Node, OpenFlags, Vfs, WriteFlags, XattrMode};

/// Not a multiple of a frame: three frames.
const BIG_BYTES: usize = 300_000;

/// A record to put, or to remove.
pub(super) type Change = (RecordKey, Option<Bytes>);

/// The volume, closed: `/dir/sub/`, `/dir/big` with frames, `/dir/copy` that shares them, `/small` with attributes, and `/link`.
pub(super) struct Planted {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) dir: Ino,
    pub(super) sub: Ino,
    pub(super) big: Ino,
    pub(super) copy: Ino,
    pub(super) small: Ino,
    pub(super) link: Ino,
    pub(super) segment: SegmentId,
    /// The records before any damage.
    pub(super) records: BTreeMap<Key, Bytes>,
}

pub(super) fn name(text: &str) -> Name {
    Name::new(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

pub(super) fn big_data() -> Bytes {
    let mut state = 1_u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u8::try_from(state >> 24).unwrap()
    })
    .take(BIG_BYTES)
    .collect()
}

async fn make(volume: &Volume, parent: Ino, text: &str, node: Node) -> Ino {
    let make = Make { node, mode: 0o755, umask: 0 };
    let ino = volume.make(Caller::ROOT, parent, &name(text), &make).await.unwrap().attr.ino;
    volume.forget(ino, 1);
    ino
}

async fn write(volume: &Volume, ino: Ino, data: Bytes) {
    let handle = volume.open(ino, OpenFlags { write: true, ..OpenFlags::default() }).await.unwrap();
    volume.write(ino, handle, 0, data, WriteFlags::default()).await.unwrap();
    volume.release(ino, handle).await;
    volume.fsync(ino).await.unwrap();
}

/// An ACL that says more than a mode: it gives user 7 something.
pub(super) fn acl() -> Bytes {
    let entries =
        [(0x01_u16, 7_u16, u32::MAX), (0x02, 6, 7), (0x04, 5, u32::MAX), (0x10, 7, u32::MAX), (0x20, 5, u32::MAX)];
    let entries = entries.iter().flat_map(|(tag, permissions, id)| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes()[..], &id.to_le_bytes()[..]].concat()
    });
    2_u32.to_le_bytes().into_iter().chain(entries).collect()
}

impl Planted {
    pub(super) async fn new() -> Self {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        crate::format(Arc::clone(&store), &FormatOptions::default()).await.unwrap();
        let volume = open(&store).await;
        let dir = make(&volume, Ino::ROOT, "dir", Node::Directory).await;
        let sub = make(&volume, dir, "sub", Node::Directory).await;
        let big = make(&volume, dir, "big", Node::Regular).await;
        let copy = make(&volume, dir, "copy", Node::Regular).await;
        let small = make(&volume, Ino::ROOT, "small", Node::Regular).await;
        let link = make(&volume, Ino::ROOT, "link", Node::Symlink(Bytes::from_static(b"dir"))).await;
        write(&volume, big, big_data()).await;
        write(&volume, small, Bytes::from_static(b"small")).await;
        let len = u64::try_from(BIG_BYTES).unwrap();
        assert_eq!(volume.copy_range(big, 0, copy, 0, len).await.unwrap(), len);
        for (attribute, value) in [(&b"user.a"[..], Bytes::from_static(b"1")), (ACL_ACCESS, acl())] {
            volume.setxattr(small, attribute, value, XattrMode::Set, false).await.unwrap();
        }
        volume.close().await.unwrap();
        let records = testing::records(Arc::clone(&store)).await.unwrap();
        let segment = |key| match RecordKey::decode(key) {
            Ok(RecordKey::Segment(segment)) => Some(segment),
            _ => None,
        };
        let segment = records.keys().find_map(segment).unwrap();
        Self { store, dir, sub, big, copy, small, link, segment, records }
    }

    pub(super) fn value(&self, key: &RecordKey) -> Bytes {
        self.records[&key.encode()].clone()
    }

    /// The inode, changed.
    pub(super) fn inode(&self, ino: Ino, change: impl FnOnce(&mut Inode)) -> Change {
        let key = RecordKey::Inode(ino);
        let mut inode = Inode::decode(self.value(&key)).unwrap();
        change(&mut inode);
        (key, Some(inode.encode()))
    }

    /// The record of the segment, changed.
    pub(super) fn segment(&self, change: impl FnOnce(&mut SegmentRecord)) -> Change {
        let key = RecordKey::Segment(self.segment);
        let mut record = SegmentRecord::decode(self.value(&key)).unwrap();
        change(&mut record);
        (key, Some(record.encode()))
    }

    /// The superblock, changed.
    pub(super) fn superblock(&self, change: impl FnOnce(&mut Superblock)) -> Change {
        let mut superblock = Superblock::decode(self.value(&RecordKey::Superblock)).unwrap();
        change(&mut superblock);
        (RecordKey::Superblock, Some(superblock.encode()))
    }

    /// The record that holds a name, and the entry.
    pub(super) fn dentry(&self, text: &str) -> (RecordKey, Dentry) {
        let found = self.records.iter().find_map(|(key, value)| {
            let key = RecordKey::decode(key).ok().filter(|key| matches!(key, RecordKey::Bucket(..)))?;
            let dentry = Bucket::decode(value.clone()).ok()?.find(&name(text))?.clone();
            Some((key, dentry))
        });
        found.unwrap()
    }

    /// The extents of a file, with their keys.
    pub(super) fn extents(&self, ino: Ino) -> Vec<(RecordKey, Extent)> {
        let extents = self.records.iter().filter_map(|(key, value)| match RecordKey::decode(key).ok()? {
            RecordKey::Extent(of, end) if of == ino => {
                Some((RecordKey::Extent(of, end), decode_extent(end, value.clone()).ok()?))
            }
            _ => None,
        });
        extents.collect()
    }

    pub(super) async fn plant(&self, changes: Vec<Change>) {
        testing::plant(Arc::clone(&self.store), changes).await.unwrap();
    }

    pub(super) fn segment_path(&self) -> Path {
        crate::layout::segment_path(self.segment)
    }

    /// The object of the segment, changed.
    pub(super) async fn change_object(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.segment_path();
        let mut object = self.store.get(&path).await.unwrap().bytes().await.unwrap().to_vec();
        change(&mut object);
        self.store.put(&path, object.into()).await.unwrap();
    }

    async fn fsck(&self, data: bool, repair: bool) -> FsckReport {
        let volume = open(&self.store).await;
        let report = volume.fsck(FsckOptions { data, repair }, &Silent).await.unwrap();
        volume.close().await.unwrap();
        report
    }

    /// Checks, and expects just these problems; each is given by some part of its text.
    pub(super) async fn check(&self, parts: &[&str]) -> FsckReport {
        let report = self.fsck(true, false).await;
        expect(&report, parts);
        assert_eq!(report.problems_left, u64::try_from(parts.len()).unwrap());
        report
    }

    /// Plants damage; expects these problems, that all are repaired, and that it is then clean.
    pub(super) async fn repairs(&self, changes: Vec<Change>, parts: &[&str]) {
        self.plant(changes).await;
        self.check(parts).await;
        let report = self.fsck(false, true).await;
        expect(&report, parts);
        assert!(report.problems.iter().all(|problem| problem.repaired), "{:?}", report.problems);
        assert_eq!(report.problems_left, 0);
        self.check(&[]).await;
    }

    /// Like [`Planted::repairs`]; and every record is again what it was before the damage.
    pub(super) async fn mends(&self, changes: Vec<Change>, parts: &[&str]) {
        self.repairs(changes, parts).await;
        self.expect_records(&self.records).await;
    }

    /// Plants damage; expects these problems, and that a repair touches nothing.
    pub(super) async fn only_reports(&self, changes: Vec<Change>, parts: &[&str]) {
        self.plant(changes).await;
        let before = testing::records(Arc::clone(&self.store)).await.unwrap();
        self.check(parts).await;
        let report = self.fsck(false, true).await;
        expect(&report, parts);
        assert!(report.problems.iter().all(|problem| !problem.repaired), "{:?}", report.problems);
        self.expect_records(&before).await;
    }

    async fn expect_records(&self, expected: &BTreeMap<Key, Bytes>) {
        let found = testing::records(Arc::clone(&self.store)).await.unwrap();
        let differ = |(key, value): &(&Key, &Bytes)| expected.get(*key) != Some(value);
        let differing: Vec<_> = found.iter().filter(differ).collect();
        assert!(differing.is_empty() && found.len() == expected.len(), "{differing:?}");
    }
}

fn expect(report: &FsckReport, parts: &[&str]) {
    let problems: Vec<&str> = report.problems.iter().map(|problem| problem.what.as_str()).collect();
    let all_named = parts.iter().all(|part| problems.iter().any(|problem| problem.contains(part)));
    assert!(all_named && problems.len() == parts.len(), "expected {parts:#?}, found {problems:#?}");
}

pub(super) async fn open(store: &Arc<dyn ObjectStore>) -> Arc<Volume> {
    Volume::open(Arc::clone(store), OpenOptions::new(Owner::new("test", "test"))).await.unwrap()
}

pub(super) async fn read(volume: &Volume, ino: Ino) -> stoa_vfs::Result<Bytes> {
    let handle = volume.open(ino, OpenFlags::default()).await.unwrap();
    let parts = volume.read(ino, handle, 0, 1 << 20).await;
    volume.release(ino, handle).await;
    Ok(parts?.concat().into())
}
