//! Which missing pieces are fetched together.

use crate::Piece;

/// Sorts items by their pieces' offsets and groups those that one GET should fetch.
///
/// Within a group no piece begins before the one ahead of it ends, gaps are at most `gap_bytes_max`, and the whole
/// spans at most `span_bytes_max` unless it is one piece.
pub(crate) fn coalesce<T>(
    mut items: Vec<T>,
    piece: impl Fn(&T) -> Piece,
    gap_bytes_max: u64,
    span_bytes_max: u64,
) -> Vec<Vec<T>> {
    items.sort_by_key(|item| piece(item).offset);
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut span = 0..0;
    for item in items {
        let Piece { offset, .. } = piece(&item);
        let end = piece(&item).end();
        let adjoins = offset >= span.end && offset - span.end <= gap_bytes_max && end - span.start <= span_bytes_max;
        match groups.last_mut() {
            Some(group) if adjoins => {
                group.push(item);
                span.end = end;
            }
            _ => {
                groups.push(vec![item]);
                span = offset..end;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests;
