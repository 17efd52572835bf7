use super::*;
use proptest::prelude::*;

fn version(key: &str, etag: &str, size: u64) -> Version {
    Version { key: key.into(), etag: Some(etag.into()), size, draft: 0 }
}

#[test]
fn every_content_has_an_id_of_its_own() {
    let all =
        [version("a", "b", 1), version("ab", "", 1), version("", "ab", 1), version("a", "b", 2), version("a", "c", 1)];
    let ids: std::collections::HashSet<_> = all.iter().map(|version| cached(version).unwrap().id).collect();
    assert_eq!(ids.len(), all.len());
    assert_eq!(cached(&version("a", "b", 1)), cached(&version("a", "b", 1)));
    assert_eq!(cached(&Version { etag: None, ..version("a", "", 1) }), None);
}

proptest! {
    #[test]
    fn pieces_cover_a_range_and_lie_on_one_grid(start in 0..2_000_000_u64, len in 1..2_000_000_u64, size in 1..3_000_000_u64) {
        prop_assume!(start < size);
        let range = start..(start + len).min(size);
        let pieces = pieces(range.clone(), size);
        prop_assert!(pieces[0].offset <= range.start);
        prop_assert!(pieces.iter().all(|piece| piece.offset % u64::from(PIECE_BYTES) == 0 && piece.len == piece.weight));
        let ends: Vec<_> = pieces.iter().map(|piece| piece.offset + u64::from(piece.len)).collect();
        prop_assert!(pieces.iter().skip(1).zip(&ends).all(|(next, end)| next.offset == *end));
        let last = ends[ends.len() - 1];
        prop_assert!(last >= range.end && last <= size && last - range.end < u64::from(PIECE_BYTES));
    }
}
