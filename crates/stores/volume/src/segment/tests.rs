use super::*;
use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use proptest::prelude::*;
use stoa_meta::{Codec, SegmentId};
use stoa_vfs::Ino;

fn text(len: usize) -> Bytes {
    b"all work and no play makes jack a dull boy. ".iter().copied().cycle().take(len).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn a_segment_says_itself_what_is_in_it() {
    let store = InMemory::new();
    let mut builder = Builder::new(SegmentId::new(1, 2));
    // More entries than fit into the first read of the tail.
    for index in 0..2000_u64 {
        builder.add(Ino(index), index * 7, encode(vec![text(50), Bytes::from(index.to_string())], 1));
    }
    let sealed = builder.seal();
    let path = Path::from("segment");
    store.put(&path, sealed.parts.into_iter().collect::<PutPayload>()).await.unwrap();
    let size = store.head(&path).await.unwrap().size;
    assert_eq!(size, sealed.segment.stored_bytes);
    let directory = Directory::read(&store, &path, size).await.unwrap();
    assert_eq!(directory.entries.len(), 2000);
    let entry = directory.entries[1234];
    assert_eq!((entry.ino, entry.file_offset), (Ino(1234), 1234 * 7));
    let start = u64::from(entry.stored_offset);
    let stored = store.get_range(&path, start..start + u64::from(entry.frame.stored_len)).await.unwrap();
    let data = decode(&entry.frame, stored).unwrap();
    assert_eq!(data, [text(50).as_ref(), b"1234"].concat());
}

#[tokio::test]
async fn a_damaged_directory_is_refused() {
    let store = InMemory::new();
    let mut builder = Builder::new(SegmentId::new(1, 2));
    builder.add(Ino(5), 0, encode(vec![text(500)], 1));
    let whole = builder.seal().parts.concat();
    let start = whole.len() - 60;
    for at in start..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        let path = Path::from("damaged");
        store.put(&path, Bytes::from(damaged).into()).await.unwrap();
        Directory::read(&store, &path, whole.len() as u64).await.unwrap_err();
    }
}

#[test]
fn what_does_not_shrink_is_stored_as_it_is_and_without_a_copy() {
    let mut state = 1_u32;
    let noise: Bytes = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(100_000)
    .collect::<Vec<_>>()
    .into();
    let encoded = encode(vec![noise.clone()], 1);
    assert_eq!(encoded.frame.codec, Codec::Raw);
    assert_eq!(encoded.parts[0].as_ptr(), noise.as_ptr());
    assert!(encode(vec![text(100_000)], 1).frame.stored_len < 5_000);
    assert_eq!(encode(vec![text(100_000)], 0).frame.codec, Codec::Raw);
}

/// The layout of version 1, byte by byte.
#[test]
fn the_layout_of_version_1_stays_as_it_is() {
    let mut builder = Builder::new(SegmentId(0x0102_0304_0506_0708));
    builder.add(Ino(9), 10, encode(vec![Bytes::from_static(b"frame")], 0));
    let hex: String = builder.seal().parts.concat().iter().map(|byte| format!("{byte:02x}")).collect();
    let header = "53544f41534547310807060504030201";
    let frame = "6672616d65";
    assert!(hex.starts_with(&format!("{header}{frame}")));
    let entry = "09000000000000000a00000000000000100000000500000005000000";
    assert_eq!(&hex[42..98], entry);
    assert_eq!(&hex[114..116], "00");
    assert_eq!(&hex[116..140], "150000000000000001000000");
    assert!(hex.ends_with("53544f41454e4431"));
}

proptest! {
    #[test]
    fn frames_come_back(data in proptest::collection::vec(any::<u8>(), 1..5000), cut in any::<usize>(), level in 0_u8..4) {
        let cut = cut % data.len();
        let whole = Bytes::from(data);
        let encoded = encode(vec![whole.slice(..cut), whole.slice(cut..)], level);
        let stored = Bytes::from(encoded.parts.concat());
        prop_assert_eq!(decode(&encoded.frame, stored.clone()).unwrap(), whole);
        let mut damaged = stored.to_vec();
        let at = cut % damaged.len();
        damaged[at] ^= 1;
        prop_assert!(decode(&encoded.frame, damaged.into()).is_err());
    }
}
