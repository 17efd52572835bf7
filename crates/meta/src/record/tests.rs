use super::*;
use crate::{Codec, Content, Extent, FrameRef, Run, SegmentId};
use ::bytes::Bytes;
use proptest::prelude::*;
use stoa_vfs::{Ino, Kind, Name, Timestamp};

fn inode() -> Inode {
    let time = |secs| Timestamp { secs, nanos: 999_999_999 };
    Inode {
        kind: Kind::Symlink,
        mode: 0o777,
        uid: 1000,
        gid: 100,
        nlink: 2,
        rdev: 0,
        size: 5,
        data_bytes: 0,
        parent: Ino(0),
        atime: time(-1),
        mtime: time(2),
        ctime: time(3),
        btime: time(4),
        flags: Inode::XATTR,
        target: Bytes::from_static(b"../up"),
    }
}

fn stored_extent() -> Extent {
    let frame = FrameRef { stored_len: 7, data_len: 4096, checksum: 0x0102_0304_0506_0708, codec: Codec::Zstd };
    let run = Run { segment: SegmentId::new(1, 2), stored_offset: 8, skip: 96, frames: vec![frame, frame] };
    Extent { offset: 4096, len: 8000, content: Content::Stored(run) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The layouts of version 1, byte by byte. These lines change only with a new version beside the old.
#[test]
fn layouts_of_version_1_stay_as_they_are() {
    assert_eq!(
        hex(&inode().encode()),
        "01ffa10000e80300006400000002000000000000000500000000000000\
         00000000000000000000000000000000ffffffffffffffffffc99a3b0200000000000000ffc99a3b0300000000000000ffc99a3b\
         0400000000000000ffc99a3b012e2e2f7570"
    );
    let bucket = Bucket::default().with(&Name::new("ab").unwrap(), Ino(5), Kind::Regular).unwrap();
    assert_eq!(hex(&bucket.encode().unwrap()), "010000050000000000000000800000026162");
    assert_eq!(
        hex(&encode_extent(&stored_extent())),
        "010200100000000000000200000001000000080000006000000007000000001000000807060504030201010700000000100000080706050403020101"
    );
    let hole = Extent { offset: 3, len: 2, content: Content::Hole };
    assert_eq!(hex(&encode_extent(&hole)), "01000300000000000000");
    let inline = Extent { offset: 0, len: 2, content: Content::Inline(Bytes::from_static(b"hi")) };
    assert_eq!(hex(&encode_extent(&inline)), "010100000000000000006869");
    let segment = SegmentRecord { stored_bytes: 1, data_bytes: 2, live_bytes: 3 };
    assert_eq!(hex(&segment.encode()), "01010000000000000002000000000000000300000000000000");
    let superblock = Superblock { next_ino: 2, inodes: 1, data_bytes: 0, labelled: true };
    assert_eq!(hex(&superblock.encode()), "0102000000000000000100000000000000000000000000000001");
    let before = superblock.encode().slice(..25);
    assert_eq!(Superblock::decode(before).unwrap(), superblock);
    assert_eq!(hex(&RecordKey::Extent(Ino(1), 258).encode()), "6500000000000000010000000000000102");
}

#[test]
fn keys_of_every_kind_stay_as_they_are() {
    let keys = [
        (RecordKey::Inode(Ino(0x0102)), "690000000000000102"),
        (RecordKey::Bucket(Ino(1), 0x0a0b_0c0d_0e0f), "64000000000000000100000a0b0c0d0e0f"),
        (RecordKey::Xattr(Ino(1), Bytes::from_static(b"user.a")), "780000000000000001757365722e61"),
        (RecordKey::Extent(Ino(1), 258), "6500000000000000010000000000000102"),
        (RecordKey::Orphan(Ino(1)), "6f0000000000000001"),
        (RecordKey::Segment(SegmentId(0x0103)), "730000000000000103"),
        (RecordKey::Shared(SegmentId(0x0103), Ino(2)), "7200000000000001030000000000000002"),
        (RecordKey::Superblock, "74"),
    ];
    for (key, bytes) in keys {
        assert_eq!(hex(&key.encode()), bytes, "{key:?}");
        assert_eq!(RecordKey::decode(&key.encode()), Ok(key));
    }
}

#[test]
fn a_cookie_stays_as_it_is() {
    let dentry = Dentry { slot: 3, ino: Ino(5), kind: Kind::Regular, name: Name::new("ab").unwrap() };
    let cookie = dentry.cookie(0x0a0b_0c0d_0e0f);
    assert_eq!(cookie.0, (0x0a0b_0c0d_0e0f << 15) + 3);
    assert_eq!(Dentry::hash_of(cookie), 0x0a0b_0c0d_0e0f);
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(Inode::decode(inode().encode()), Ok(inode()));
    let extent = stored_extent();
    assert_eq!(decode_extent(extent.end(), encode_extent(&extent)), Ok(extent));
}

#[test]
fn a_removed_slot_is_used_again_and_others_keep_theirs() {
    let name = |text: &'static str| Name::new(text).unwrap();
    let three = ["a", "b", "c"]
        .iter()
        .fold(Bucket::default(), |bucket, text| bucket.with(&name(text), Ino(9), Kind::Fifo).unwrap());
    let two = three.without(&name("a"));
    assert_eq!(two.find(&name("c")).unwrap().slot, 2);
    let again = two.with(&name("d"), Ino(10), Kind::Fifo).unwrap();
    assert_eq!(again.dentries.iter().map(|dentry| dentry.slot).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(Bucket::decode(again.encode().unwrap()), Ok(again));
}

#[test]
fn an_extent_that_its_frames_do_not_cover_is_refused() {
    let extent = stored_extent();
    assert!(decode_extent(extent.end() + 97, encode_extent(&extent)).is_err());
    assert!(decode_extent(extent.offset, encode_extent(&extent)).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), end in any::<u64>()) {
        let bytes = Bytes::from(bytes);
        let _ = Inode::decode(bytes.clone());
        let _ = Bucket::decode(bytes.clone());
        let _ = decode_extent(end, bytes.clone());
        let _ = SegmentRecord::decode(bytes.clone());
        let _ = Superblock::decode(bytes.clone());
        if let Ok(key) = RecordKey::decode(&bytes) {
            prop_assert_eq!(key.encode(), bytes);
        }
    }

    #[test]
    fn keys_sort_as_their_numbers(ino in any::<u64>(), a in any::<u64>(), b in any::<u64>()) {
        let key = |end| RecordKey::Extent(Ino(ino), end).encode();
        prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
        let (start, end) = RecordKey::all_about(b'e', ino);
        prop_assert!(start <= key(a) && key(a) < end);
    }
}
