use super::*;

fn frame(data_len: u32) -> FrameRef {
    FrameRef { stored_len: data_len / 2, data_len, checksum: u64::from(data_len), codec: Codec::Zstd }
}

fn stored() -> Extent {
    let run = Run {
        segment: SegmentId::new(3, 7),
        stored_offset: 100,
        skip: 10,
        frames: vec![frame(100), frame(200), frame(50)],
    };
    Extent { offset: 1000, len: 330, content: Content::Stored(run) }
}

#[test]
fn a_slice_keeps_only_the_frames_it_needs() {
    let middle = stored().slice(&(1095..1100)).unwrap();
    let Content::Stored(run) = middle.content else { panic!("not stored") };
    assert_eq!((middle.offset, middle.len), (1095, 5));
    assert_eq!((run.stored_offset, run.skip, run.frames), (150, 5, vec![frame(200)]));
}

#[test]
fn a_slice_of_everything_is_the_extent_but_for_unused_frames() {
    let whole = stored().slice(&(0..u64::MAX)).unwrap();
    assert_eq!(whole, stored());
}

#[test]
fn a_slice_over_a_frame_border_keeps_both() {
    let Content::Stored(run) = stored().slice(&(1000..1091)).unwrap().content else { panic!("not stored") };
    assert_eq!((run.skip, run.frames.len()), (10, 2));
    let Content::Stored(run) = stored().slice(&(1000..1090)).unwrap().content else { panic!("not stored") };
    assert_eq!((run.skip, run.frames.len()), (10, 1));
}

#[test]
fn slices_that_do_not_meet_are_none() {
    assert_eq!(stored().slice(&(0..1000)), None);
    assert_eq!(stored().slice(&(1330..2000)), None);
}

#[test]
fn inline_slices_share_the_bytes() {
    let extent = Extent { offset: 5, len: 4, content: Content::Inline(Bytes::from_static(b"abcd")) };
    assert_eq!(extent.slice(&(6..8)).unwrap().content, Content::Inline(Bytes::from_static(b"bc")));
}
