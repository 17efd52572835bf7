use super::*;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The buffer of a write. The count is of those that are held.
struct Buffer(Vec<u8>, Arc<AtomicUsize>);

impl Buffer {
    fn of(bytes: usize, held: &Arc<AtomicUsize>) -> Bytes {
        held.fetch_add(1, Ordering::Relaxed);
        Bytes::from_owner(Self(vec![1; bytes], Arc::clone(held)))
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn writes_over_most_of_each_other_hold_little_more_than_is_left_of_them() {
    const LEN: u64 = 1 << 20;
    for stride in [4 << 10, 16 << 10, 100 << 10, LEN / 2 - 1, LEN / 2 + 1, 900 << 10] {
        let (mut layer, held) = (Layer::default(), Arc::new(AtomicUsize::new(0)));
        for index in 0..64 {
            layer.put(index * stride, Piece::Data(Buffer::of(LEN as usize, &held)));
            // What is left of a buffer that is not held was copied, and is counted as it is.
            let buffers = held.load(Ordering::Relaxed) as u64 * LEN;
            assert!(buffers <= 2 * layer.data_bytes(), "{buffers} bytes are held for {}", layer.data_bytes());
        }
    }
}

#[test]
fn a_rest_is_not_copied_again_for_each_small_write() {
    const PAGE: u64 = 4096;
    let mut layer = Layer::default();
    layer.put(0, Piece::Data(Bytes::from(vec![1; 1 << 20])));
    let mut copies = 0;
    let mut before = None;
    for index in 0..256 {
        layer.put(index * PAGE, Piece::Hole(PAGE));
        let rest = layer.within((index + 1) * PAGE..1 << 20).next();
        let Some((_, Piece::Data(rest))) = rest else { break };
        let buffer = rest.as_ptr() as usize - (index as usize + 1) * PAGE as usize;
        copies += usize::from(before.replace(buffer) != Some(buffer));
    }
    assert!(copies <= 10, "{copies} copies");
}

#[test]
fn a_stretch_ends_where_a_unit_does_and_has_neither_gap_nor_hole() {
    let data = |kib: usize| Piece::Data(Bytes::from(vec![1; kib << 10]));
    let mut layer = Layer::default();
    assert_eq!(layer.stretch(100 << 10), None);
    layer.put(100 << 10, data(50));
    assert_eq!((layer.stretch(100 << 10), layer.stretch(50 << 10)), (None, Some(100 << 10..150 << 10)));
    layer.put(160 << 10, data(240));
    assert_eq!(layer.stretch(100 << 10), None);
    layer.put(150 << 10, Piece::Hole(10 << 10));
    assert_eq!(layer.stretch(100 << 10), None);
    layer.put(150 << 10, data(10));
    assert_eq!(layer.stretch(100 << 10), Some(100 << 10..400 << 10));
    layer.put(400 << 10, data(60));
    layer.put(470 << 10, data(30));
    assert_eq!(layer.stretch(100 << 10), Some(100 << 10..400 << 10));
    layer.clear(180 << 10..190 << 10);
    assert_eq!(layer.stretch(100 << 10), None);
}

#[test]
fn what_is_taken_out_is_counted_no_more() {
    let data = |kib: usize| Piece::Data(Bytes::from(vec![1; kib << 10]));
    let mut layer = Layer::default();
    layer.put(0, Piece::Hole(10 << 10));
    layer.put(10 << 10, data(90));
    layer.put(100 << 10, data(50));
    let front = layer.take_until(100 << 10);
    assert_eq!((front.data_bytes(), layer.data_bytes()), (90 << 10, 50 << 10));
    assert_eq!((front.pieces().count(), layer.pieces().count()), (2, 1));
}
