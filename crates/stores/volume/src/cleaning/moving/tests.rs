use super::*;
use stoa_meta::{Codec, FrameRef, Run, SegmentId};

/// A page at `offset` of a file, in the frame at `stored_offset` of a segment, which has so much data.
fn page(offset: u64, stored_offset: u32, data_len: u32) -> Extent {
    let frame = FrameRef { stored_len: data_len, data_len, checksum: 0, codec: Codec::Raw };
    let run = Run { segment: SegmentId(1), stored_offset, skip: 0, frames: vec![frame] };
    Extent { offset, len: 4096, content: Content::Stored(run) }
}

#[test]
fn what_is_read_counts_and_each_frame_once() {
    let mut portion = Portion::default();
    portion.add(vec![page(0, 0, 131_072), page(8192, 0, 131_072)]);
    portion.add(vec![page(16384, 0, 131_072), page(131_072, 131_072, 4096)]);
    assert!(portion.is_full(131_072 + 4096) && !portion.is_full(131_072 + 4097));
    assert_eq!(portion.take().len(), 2);
    assert!(portion.is_empty() && !portion.is_full(1));
}

#[test]
fn a_portion_of_very_many_small_extents_is_full() {
    let mut portion = Portion::default();
    let inline = |offset| Extent { offset, len: 1, content: Content::Inline(Bytes::from_static(b"x")) };
    portion.add((0..8191).map(inline).collect());
    assert!(!portion.is_full(u64::MAX));
    portion.add(vec![inline(8191)]);
    assert!(portion.is_full(u64::MAX));
}

#[test]
fn a_small_part_of_a_frame_does_not_keep_all_of_it() {
    let frame = Bytes::from(vec![7; 131_072]);
    let part = frame.slice(4096..8192);
    let kept = alone(&page(0, 0, 131_072), vec![part.clone()]);
    assert_eq!(kept.concat(), part);
    assert!(kept.iter().all(|bytes| !frame.as_ptr_range().contains(&bytes.as_ptr())));
    let whole = alone(&page(0, 0, 4096), vec![part.clone()]);
    assert!(whole.iter().all(|bytes| bytes.as_ptr() == part.as_ptr()));
}
