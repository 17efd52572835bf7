//! The model must object to what a crash may not leave.

use super::{Change, FileHistory};

const SYNCED: Change = Change::Floor { if_reached: None };

fn file(changes: Vec<Change>) -> FileHistory {
    FileHistory { mode: 0o600, changes }
}

#[test]
fn what_was_synced_must_be_there() {
    let file = file(vec![Change::Write(0, b"abc".to_vec()), SYNCED]);
    let possible = file.admissible(0);
    assert_eq!(possible.objection(b"abc"), None);
    assert!(possible.objection(b"").is_some());
    assert!(possible.objection(b"abd").is_some());
    assert!(possible.objection(b"abcd").is_some());
}

#[test]
fn what_was_not_synced_may_be_there_in_part() {
    let file = file(vec![Change::Write(0, b"abc".to_vec()), SYNCED, Change::Write(2, b"xyz".to_vec())]);
    let possible = file.admissible(0);
    for found in [&b"abc"[..], b"abxyz", b"abx", b"abc\0z"] {
        assert_eq!(possible.objection(found), None, "{found:?}");
    }
    for found in [&b"ab"[..], b"abxyq", b"\0bc", b"abxyz!"] {
        assert!(possible.objection(found).is_some(), "{found:?}");
    }
}

#[test]
fn a_rename_over_a_file_publishes_only_if_it_happened() {
    let file = file(vec![Change::Write(0, b"new".to_vec()), Change::Floor { if_reached: Some(7) }]);
    assert_eq!(file.admissible(6).objection(b""), None);
    assert!(file.admissible(7).objection(b"").is_some());
    assert_eq!(file.admissible(7).objection(b"new"), None);
}

#[test]
fn a_cut_may_leave_zeros_when_the_file_grows_again() {
    let file = file(vec![Change::Write(0, b"abcd".to_vec()), SYNCED, Change::Truncate(1), Change::Truncate(4)]);
    let possible = file.admissible(0);
    assert_eq!(possible.objection(b"a\0\0\0"), None);
    assert_eq!(possible.objection(b"abcd"), None);
    assert!(possible.objection(b"\0bcd").is_some());
}
