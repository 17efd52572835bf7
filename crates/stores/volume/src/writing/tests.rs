use super::*;

fn parts(offset: u64, len: usize) -> Vec<(u64, u64)> {
    split(offset, Bytes::from(vec![0; len])).iter().map(|(offset, piece)| (*offset, piece.len())).collect()
}

#[test]
fn writes_are_cut_where_layers_end() {
    const END: u64 = FREEZE_BYTES;
    assert_eq!(parts(END - 10, 10), [(END - 10, 10)]);
    assert_eq!(parts(END, 10), [(END, 10)]);
    assert_eq!(parts(END - 10, 30), [(END - 10, 10), (END, 20)]);
    assert_eq!(parts(5, 17 << 20), [(5, END - 5), (END, END), (2 * END, (1 << 20) + 5)]);
}

#[test]
fn a_part_does_not_keep_the_buffer_of_all() {
    let data = Bytes::from(vec![0; 1000]);
    let buffer = data.as_ptr_range();
    let shares = |offset| -> Vec<bool> {
        let parts = split(offset, data.clone());
        parts.iter().map(|(_, piece)| matches!(piece, Piece::Data(bytes) if buffer.contains(&bytes.as_ptr()))).collect()
    };
    assert_eq!(shares(FREEZE_BYTES - 500), [false, false]);
    assert_eq!(shares(FREEZE_BYTES - 1000), [true]);
}
