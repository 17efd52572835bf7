use super::*;
use bytes::Bytes;

fn published(size: u64) -> FileState {
    let mut state = FileState::default();
    state.was_published(size);
    state
}

/// Large enough not to be joined with its neighbours.
fn put(state: &mut FileState, offset: u64) {
    state.put(offset << 20, Piece::Data(Bytes::from(vec![1; 1 << 20])), None);
}

/// The sizes, in MiB, that layers give the file: of one that is frozen until `end`, and of one with the rest.
fn sizes(state: &mut FileState, end: u64) -> (u64, Option<u64>) {
    let front = state.freeze_until(end << 20).unwrap();
    (front.size >> 20, state.freeze().map(|rest| rest.size >> 20))
}

#[test]
fn a_file_is_never_longer_than_what_is_frozen_of_it() {
    let mut state = published(0);
    [0, 1, 3].into_iter().for_each(|offset| put(&mut state, offset));
    assert_eq!(sizes(&mut state, 2), (2, Some(4)));
    assert!(!state.is_active());
}

#[test]
fn what_is_overwritten_stays_together() {
    let mut state = published(10 << 20);
    [7, 4, 5, 12].into_iter().for_each(|offset| put(&mut state, offset));
    assert_eq!(sizes(&mut state, 6), (13, None));
    [12, 13, 15].into_iter().for_each(|offset| put(&mut state, offset));
    assert_eq!(sizes(&mut state, 14), (14, Some(16)));
}

#[test]
fn a_file_that_was_cut_is_cut_before_it_grows_again() {
    let mut state = published(10 << 20);
    state.resize(1 << 20, Timestamp::default());
    [1, 2, 3].into_iter().for_each(|offset| put(&mut state, offset));
    assert_eq!(sizes(&mut state, 2), (2, Some(4)));
    put(&mut state, 0);
    assert_eq!(sizes(&mut state, 1), (4, None));
}
