use super::*;
use stoa_meta::{Codec, FrameRef, SegmentId};

#[test]
fn frames_end_at_multiples_of_their_size() {
    let part = Bytes::from(vec![1_u8; 100_000]);
    let cuts = cut(FRAME_BYTES - 10, &[part.clone(), part]);
    let sizes: Vec<(u64, usize)> =
        cuts.iter().map(|(offset, parts)| (*offset, parts.iter().map(Bytes::len).sum())).collect();
    assert_eq!(sizes, [(FRAME_BYTES - 10, 10), (FRAME_BYTES, 131_072), (2 * FRAME_BYTES, 200_000 - 10 - 131_072)]);
}

#[test]
fn a_first_cut_in_the_middle_of_a_frame_starts_there() {
    let cuts = cut(100, &[Bytes::from_static(b"ab"), Bytes::from_static(b"cd")]);
    assert_eq!(cuts, [(100, vec![Bytes::from_static(b"ab"), Bytes::from_static(b"cd")])]);
}

fn stored(offset: u64, segment: u32, stored_offset: u32) -> Extent {
    let frame = FrameRef { stored_len: 10, data_len: 100, checksum: 0, codec: Codec::Raw };
    let run = Run { segment: SegmentId::new(1, segment), stored_offset, skip: 0, frames: vec![frame] };
    Extent { offset, len: 100, content: Content::Stored(run) }
}

#[test]
fn only_what_lies_side_by_side_becomes_one_extent() {
    let count = |second| {
        let mut extents = vec![stored(0, 1, 16)];
        append(&mut extents, second);
        extents.len()
    };
    assert_eq!(count(stored(100, 1, 26)), 1);
    assert_eq!(count(stored(101, 1, 26)), 2);
    assert_eq!(count(stored(100, 1, 27)), 2);
    assert_eq!(count(stored(100, 2, 26)), 2);
}
