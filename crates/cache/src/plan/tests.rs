use super::coalesce;
use crate::Piece;

/// Groups `(offset, len)` with a gap of 10 and a span of 100.
fn groups(pieces: &[(u64, u32)]) -> Vec<Vec<u64>> {
    let items = pieces.iter().map(|(offset, len)| Piece { offset: *offset, len: *len, weight: 0 }).collect();
    let groups = coalesce(items, |piece: &Piece| *piece, 10, 100);
    groups.into_iter().map(|group| group.into_iter().map(|piece| piece.offset).collect()).collect()
}

#[test]
fn what_adjoins_goes_together() {
    assert!(groups(&[]).is_empty());
    assert_eq!(groups(&[(0, 10), (10, 10), (20, 10)]), vec![vec![0, 10, 20]]);
    assert_eq!(groups(&[(20, 10), (0, 10), (10, 10)]), vec![vec![0, 10, 20]], "in any order");
    assert_eq!(groups(&[(0, 10), (20, 10)]), vec![vec![0, 20]], "a gap of 10");
    assert_eq!(groups(&[(0, 10), (21, 10)]), vec![vec![0], vec![21]], "a gap of 11");
    assert_eq!(groups(&[(0, 50), (50, 50)]), vec![vec![0, 50]], "a span of 100");
    assert_eq!(groups(&[(0, 50), (50, 51)]), vec![vec![0], vec![50]], "a span of 101");
    assert_eq!(groups(&[(0, 500), (500, 5)]), vec![vec![0], vec![500]], "one that is longer than the span");
}

#[test]
fn what_overlaps_is_never_together() {
    assert_eq!(groups(&[(0, 10), (9, 10)]), vec![vec![0], vec![9]]);
    assert_eq!(groups(&[(0, 30), (5, 10), (20, 20)]), vec![vec![0], vec![5, 20]]);
}

#[test]
fn the_end_of_all_offsets_does_not_wrap() {
    assert_eq!(groups(&[(u64::MAX - 5, 10), (u64::MAX, 10)]), vec![vec![u64::MAX - 5, u64::MAX]]);
}
