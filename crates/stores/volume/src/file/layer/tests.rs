use super::*;
use proptest::prelude::*;

const SPACE: usize = 4096;

/// What a byte of the model is: nothing written, a hole, or data.
type Cell = Option<Option<u8>>;

fn flatten(layer: &Layer) -> Vec<Cell> {
    let mut cells = vec![None; SPACE];
    for (offset, piece) in layer.pieces() {
        let start = offset as usize;
        match piece {
            Piece::Data(bytes) => bytes.iter().enumerate().for_each(|(at, byte)| cells[start + at] = Some(Some(*byte))),
            Piece::Hole(len) => cells[start..start + *len as usize].fill(Some(None)),
        }
    }
    cells
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize, usize, u8),
    Punch(usize, usize),
    Clear(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = (0..SPACE - 1).prop_flat_map(|start| (Just(start), 1..=(SPACE - start).min(700)));
    let step = (range, 0..4_u8, any::<u8>()).prop_map(|((start, len), which, byte)| match which {
        0 | 1 => Step::Write(start, len, byte),
        2 => Step::Punch(start, len),
        _ => Step::Clear(start, len),
    });
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #[test]
    fn a_layer_is_an_array_of_cells(steps in steps()) {
        let mut layer = Layer::default();
        let mut model: Vec<Cell> = vec![None; SPACE];
        for step in steps {
            match step {
                Step::Write(start, len, byte) => {
                    layer.put(start as u64, Piece::Data(vec![byte; len].into()));
                    model[start..start + len].fill(Some(Some(byte)));
                }
                Step::Punch(start, len) => {
                    layer.put(start as u64, Piece::Hole(len as u64));
                    model[start..start + len].fill(Some(None));
                }
                Step::Clear(start, len) => {
                    layer.clear(start as u64..(start + len) as u64);
                    model[start..start + len].fill(None);
                }
            }
            prop_assert_eq!(&flatten(&layer), &model);
            let data = model.iter().filter(|cell| matches!(cell, Some(Some(_)))).count() as u64;
            prop_assert_eq!(layer.data_bytes(), data);
        }
        let mut seen = vec![None; SPACE];
        for (range, piece) in layer.within(100..3000) {
            prop_assert!(range.start >= 100 && range.end <= 3000 && piece.len() == range.end - range.start);
            let cell = |at: usize| match &piece { Piece::Data(bytes) => Some(Some(bytes[at])), Piece::Hole(_) => Some(None) };
            (range.start..range.end).enumerate().for_each(|(at, offset)| seen[offset as usize] = cell(at));
        }
        prop_assert_eq!(&seen[100..3000], &model[100..3000]);
    }
}

#[test]
fn small_writes_side_by_side_become_one_piece() {
    let mut layer = Layer::default();
    for at in 0..1000 {
        layer.put(at, Piece::Data(Bytes::from_static(b"x")));
    }
    assert_eq!(layer.pieces().count(), 1);
}

#[test]
fn the_rest_of_a_large_buffer_is_not_held_for_a_few_bytes() {
    let mut layer = Layer::default();
    let large = Bytes::from(vec![1_u8; 1 << 20]);
    let address = large.as_ptr() as usize;
    layer.put(0, Piece::Data(large));
    layer.put(100, Piece::Hole(1 << 20));
    let (_, Piece::Data(rest)) = layer.pieces().next().unwrap() else { panic!("no data") };
    assert_ne!(rest.as_ptr() as usize, address);
}

#[test]
fn random_writes_leave_a_layer_scattered_and_a_stream_does_not() {
    let page = || Piece::Data(Bytes::from(vec![1; 4096]));
    let (mut stream, mut random) = (Layer::default(), Layer::default());
    assert!(!stream.is_scattered());
    for index in 0..1000 {
        stream.put(index * 4096, page());
        random.put(index * 3 * 4096, page());
    }
    assert!(!stream.is_scattered());
    assert!(random.is_scattered());
}
