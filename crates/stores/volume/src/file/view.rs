//! A file as programs see it: layers over published extents.

use super::{FileState, Piece};
use std::ops::Range;

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) range: Range<u64>,
    /// What a layer has there; `None` where the published extents show.
    pub(crate) piece: Option<Piece>,
}

/// What the layers of a file have in `range`, newest first where they overlap; the spans cover it in order.
pub(crate) fn overlay(state: &FileState, range: Range<u64>) -> Vec<Span> {
    let layers = state.frozen.iter().map(|frozen| &frozen.layer).chain([&state.active]);
    let mut spans = vec![Span { range, piece: None }];
    for layer in layers.rev() {
        if layer.is_empty() {
            continue;
        }
        let mut finer = Vec::with_capacity(spans.len());
        for span in spans {
            if span.piece.is_some() {
                finer.push(span);
                continue;
            }
            let mut next = span.range.start;
            for (range, piece) in layer.within(span.range.clone()) {
                if next < range.start {
                    finer.push(Span { range: next..range.start, piece: None });
                }
                next = range.end;
                finer.push(Span { range, piece: Some(piece) });
            }
            if next < span.range.end {
                finer.push(Span { range: next..span.range.end, piece: None });
            }
        }
        spans = finer;
    }
    spans.retain(|span| span.range.start < span.range.end);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use stoa_vfs::Timestamp;

    #[test]
    fn newer_layers_hide_older_ones_and_gaps_show_what_was_published() {
        let data = |text: &'static str| Piece::Data(Bytes::from_static(text.as_bytes()));
        let now = Timestamp::default();
        let mut state = FileState::default();
        state.was_published(20);
        state.put(2, data("aaaa"), Some(now));
        state.freeze();
        state.put(4, data("bbbb"), Some(now));
        state.freeze();
        state.put(5, Piece::Hole(1), Some(now));
        let spans: Vec<_> = overlay(&state, 0..10).into_iter().map(|span| (span.range, span.piece)).collect();
        let expected = [
            (0..2, None),
            (2..4, Some(data("aa"))),
            (4..5, Some(data("b"))),
            (5..6, Some(Piece::Hole(1))),
            (6..8, Some(data("bb"))),
            (8..10, None),
        ];
        assert_eq!(spans, expected);
    }

    #[test]
    fn a_file_that_was_cut_and_grew_again_does_not_show_its_past() {
        let now = Timestamp::default();
        let mut state = FileState::default();
        state.was_published(100);
        state.resize(10, now);
        state.put(50, Piece::Data(Bytes::from_static(b"x")), Some(now));
        let spans = overlay(&state, 0..state.size);
        assert_eq!(spans.first(), Some(&Span { range: 0..10, piece: None }));
        assert_eq!(spans.get(1), Some(&Span { range: 10..50, piece: Some(Piece::Hole(40)) }));
        assert_eq!(state.size, 51);
    }
}
