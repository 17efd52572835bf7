use super::*;
use bytes::Bytes;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Every byte is in one part, those that are copied are kept, and no part but the last is too short.
fn check(extents: &mut Extents, pieces: &[Piece]) {
    let mut at = 0;
    for (n, piece) in pieces.iter().enumerate() {
        let len = piece.range.end - piece.range.start;
        assert_eq!(piece.range.start, at, "{pieces:?}");
        assert!(len <= COPY_BYTES_MAX && (len >= PART_BYTES_MIN || n + 1 == pieces.len()), "{pieces:?}");
        assert!(n == 0 || pieces[n - 1].number < piece.number, "{pieces:?}");
        assert!(piece.number <= PARTS_MAX);
        if piece.work == Work::Copy {
            assert!(!extents.any(piece.range.clone(), |place| *place != Place::Kept), "{piece:?}");
        }
        at = piece.range.end;
    }
    assert_eq!(at, extents.size());
}

fn sent_bytes(pieces: &[Piece]) -> u64 {
    pieces.iter().filter(|piece| piece.work == Work::Send).map(|piece| piece.range.end - piece.range.start).sum()
}

#[test]
fn an_edit_in_the_middle_sends_little() {
    for size in [20 * MIB, GIB + 5, 100 * GIB, 4 << 40] {
        let mut extents = Extents::kept(size);
        extents.write(size / 2, Bytes::from_static(b"x"));
        let pieces = plan(&mut extents, &Grid::growing(128 * MIB), &BTreeSet::new()).unwrap();
        check(&mut extents, &pieces);
        assert!(sent_bytes(&pieces) <= 8 * MIB, "{size}: {}", sent_bytes(&pieces));
    }
}

#[test]
fn an_append_sends_what_is_appended() {
    for size in [9 * MIB + 3, 100 * MIB + 3, 4 << 40] {
        let mut extents = Extents::kept(size);
        extents.write(size, Bytes::from_static(b"more"));
        let pieces = plan(&mut extents, &Grid::growing(128 * MIB), &BTreeSet::new()).unwrap();
        check(&mut extents, &pieces);
        assert_eq!(sent_bytes(&pieces), 4);
    }
}

#[test]
fn a_long_cell_that_the_end_of_the_file_cuts_off_is_copied() {
    let grid = Grid::growing(2 << 30);
    for size in [904_001, 905_000, 905_100, 1_000_000, 1_199_999].map(|mib| mib * MIB + 1) {
        let mut extents = Extents::kept(size);
        extents.set(8 * MIB..16 * MIB, Place::Sent);
        let pieces = plan(&mut extents, &grid, &BTreeSet::from([2])).unwrap();
        check(&mut extents, &pieces);
        assert_eq!(sent_bytes(&pieces), 0);
    }
}

#[test]
fn changes_everywhere_in_a_large_object_fit_into_ten_thousand_parts() {
    let mut extents = Extents::kept(200 * GIB);
    for at in 0..20_000 {
        extents.write(at * 10 * MIB, Bytes::from_static(b"x"));
    }
    let pieces = plan(&mut extents, &Grid::growing(128 * MIB), &BTreeSet::new()).unwrap();
    check(&mut extents, &pieces);
}

#[test]
fn ten_thousand_parts_have_room_for_the_largest_object() {
    assert!(Grid::growing(2 << 30).cell_at((5 << 40) - 1).is_some());
    // An eighth of 4 GiB.
    assert!(Grid::growing(512 << 20).cell_at((2 << 40) - 1).is_some());
    assert_eq!(Grid::growing(1).cell_at(0).unwrap().range, 0..PART_BYTES_MIN);
    assert_eq!(Grid::growing(1).cell_at(10_000 * PART_BYTES_MIN), None);
}

#[test]
fn cells_follow_each_other() {
    let grid = Grid::growing(2 << 30);
    let (mut at, mut count) = (0, 0);
    while let Some(cell) = grid.cell_at(at) {
        assert_eq!((cell.number, cell.range.start), (count + 1, at));
        assert_eq!(grid.cell_at(cell.range.end - 1), Some(cell.clone()));
        (at, count) = (cell.range.end, count + 1);
    }
    assert_eq!(count, PARTS_MAX);
}

proptest! {
    #[test]
    fn any_file_is_laid_out(
        size in 0..200_u64,
        writes in prop::collection::vec((0..220_u64, prop::sample::select(vec![1, 100, MIB, 5 * MIB, 30 * MIB])), 0..12),
        sent in prop::collection::vec(0..30_u64, 0..5),
    ) {
        let mut extents = Extents::kept(size * MIB + size);
        for (at, len) in writes {
            extents.set(at * MIB + 7..at * MIB + 7 + len, Place::Spilled);
        }
        let grid = Grid::growing(128 * MIB);
        let mut numbers = BTreeSet::new();
        for cell in sent.into_iter().filter_map(|at| grid.cell_at(at * 8 * MIB)) {
            extents.set(cell.range.clone(), Place::Sent);
            numbers.insert(cell.number);
        }
        let pieces = plan(&mut extents, &grid, &numbers).unwrap();
        check(&mut extents, &pieces);
        let kept: BTreeSet<u32> = pieces.iter().filter(|it| it.work == Work::Nothing).map(|it| it.number).collect();
        prop_assert_eq!(kept, numbers);
    }
}
