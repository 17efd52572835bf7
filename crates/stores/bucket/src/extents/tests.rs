use super::*;
use proptest::prelude::*;

/// What is done to a file, and to a plain vector beside it.
#[derive(Debug, Clone)]
enum Step {
    Write(u64, usize),
    Zero(u64, u64),
    Resize(u64),
    Spill(u64, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let offset = || 0..300_000_u64;
    let len = || prop::sample::select(vec![1_u64, 100, 5_000, 70_000, 200_000]);
    let step = prop_oneof![
        5 => (offset(), len()).prop_map(|(offset, len)| Step::Write(offset, len as usize)),
        1 => (offset(), len()).prop_map(|(offset, len)| Step::Zero(offset, len)),
        1 => offset().prop_map(Step::Resize),
        1 => (offset(), len()).prop_map(|(offset, len)| Step::Spill(offset, len)),
    ];
    prop::collection::vec(step, 1..40)
}

/// The bytes as the ranges say: those of the replaced object are `k`, and those of the spill file are in `spill`.
fn bytes(extents: &mut Extents, spill: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (range, place) in extents.runs(0..u64::MAX) {
        let (start, end) = (range.start as usize, range.end as usize);
        assert_eq!(start, bytes.len(), "the ranges cover the file");
        match place {
            Place::Kept => bytes.resize(end, b'k'),
            Place::Zeros => bytes.resize(end, 0),
            Place::Held(data) => bytes.extend_from_slice(&data),
            Place::Spilled => bytes.extend_from_slice(&spill[start..end]),
            Place::Sent => panic!("nothing was sent"),
        }
        assert_eq!(end, bytes.len());
    }
    assert_eq!(bytes.len() as u64, extents.size());
    bytes
}

proptest! {
    #[test]
    fn any_steps_give_the_bytes_of_a_plain_file(size in 0..200_000_u64, steps in steps()) {
        let mut extents = Extents::kept(size);
        let mut expected = vec![b'k'; size as usize];
        let mut spill = vec![0_u8; 600_000];
        for (at, step) in steps.into_iter().enumerate() {
            let reach = |end: u64, expected: &mut Vec<u8>| expected.resize(expected.len().max(end as usize), 0);
            match step {
                Step::Write(offset, len) => {
                    // Every other one goes on where the file ends.
                    let offset = if at % 2 == 0 { extents.size() } else { offset };
                    let data: Vec<u8> = (0..len).map(|n| (n + at) as u8).collect();
                    reach(offset + len as u64, &mut expected);
                    expected[offset as usize..offset as usize + len].copy_from_slice(&data);
                    if spill.len() < expected.len() {
                        spill.resize(expected.len(), 0);
                    }
                    extents.write(offset, data.into());
                }
                Step::Zero(offset, len) => {
                    reach(offset + len, &mut expected);
                    expected[offset as usize..(offset + len) as usize].fill(0);
                    extents.set(offset..offset + len, Place::Zeros);
                }
                Step::Resize(size) => {
                    expected.resize(size as usize, 0);
                    extents.resize(size);
                }
                Step::Spill(offset, len) => {
                    for (range, place) in extents.runs(offset..offset + len) {
                        if let Place::Held(data) = place {
                            spill.resize(spill.len().max(range.end as usize), 0);
                            spill[range.start as usize..range.end as usize].copy_from_slice(&data);
                            extents.set(range, Place::Spilled);
                        }
                    }
                }
            }
            spill.resize(spill.len().max(expected.len()), 0);
            prop_assert!(bytes(&mut extents, &spill) == expected);
        }
        extents.resize(0);
        prop_assert_eq!(extents.held(), 0);
    }
}

#[test]
fn small_pieces_in_order_are_one() {
    let mut extents = Extents::default();
    for at in 0..10_000_u64 {
        extents.write(at, Bytes::from_static(b"x"));
    }
    assert!(extents.held() < 11_000, "{}", extents.held());
    assert_eq!(extents.runs(0..u64::MAX).len(), 1);
}

#[test]
fn a_small_rest_does_not_hold_a_large_buffer() {
    let mut extents = Extents::default();
    let large = Bytes::from(vec![1_u8; 1 << 20]);
    extents.write(0, large.clone());
    extents.set(10..1 << 20, Place::Zeros);
    let (_, Place::Held(rest)) = &extents.runs(0..10)[0] else { panic!("it is in memory") };
    assert_ne!(rest.as_ptr(), large.as_ptr());
    assert_eq!(extents.held(), 10 + PIECE_OVERHEAD_BYTES);
}
