use super::*;
use proptest::prelude::*;

fn read(pairs: &[(&str, &str)]) -> Metadata {
    Metadata::read(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

fn time(secs: i64, nanos: u32) -> Option<Timestamp> {
    Some(Timestamp { secs, nanos })
}

#[test]
fn as_s3fs_writes_them() {
    let found = read(&[("mode", "33188"), ("uid", "1000"), ("gid", "100"), ("mtime", "1609459200")]);
    let expected = Metadata {
        kind: Some(Kind::Regular),
        mode: Some(0o644),
        uid: Some(1000),
        gid: Some(100),
        mtime: time(1_609_459_200, 0),
    };
    assert_eq!(found, expected);
    assert_eq!(read(&[("mode", "41471")]).kind, Some(Kind::Symlink));
    assert_eq!(read(&[("mtime", "1609459200.123456789")]).mtime, time(1_609_459_200, 123_456_789));
}

#[test]
fn as_rclone_writes_them() {
    assert_eq!(read(&[("mtime", "1609459200.5")]).mtime, time(1_609_459_200, 500_000_000));
    assert_eq!(read(&[("mtime", "-0.25")]).mtime, time(-1, 750_000_000));
}

#[test]
fn what_makes_no_sense_is_not_there() {
    assert_eq!(read(&[]), Metadata::default());
    for text in ["", "x", "1.x", "1.-5", ".5", "99999999999999999999", "1e9"] {
        assert_eq!(read(&[("mtime", text), ("uid", text), ("mode", "-1")]), Metadata::default(), "{text:?}");
    }
    // rclone's modes may lack the kind.
    assert_eq!(read(&[("mode", "420")]), Metadata { mode: Some(0o644), ..Metadata::default() });
}

#[test]
fn what_is_written_is_read() {
    let at = Timestamp { secs: 1_609_459_200, nanos: 5 };
    let set = SetAttr { mode: Some(0o640), uid: Some(7), mtime: Some(SetTime::At(at)), ..SetAttr::default() };
    let mut user = BTreeMap::from([("gid".to_owned(), "8".to_owned())]);
    write(&set, &mut user);
    let expected =
        Metadata { kind: Some(Kind::Regular), mode: Some(0o640), uid: Some(7), gid: Some(8), mtime: Some(at) };
    assert_eq!(Metadata::read(&user), expected);
    write(&SetAttr { mtime: Some(SetTime::Now), ..SetAttr::default() }, &mut user);
    assert_eq!(Metadata::read(&user), Metadata { mtime: None, ..expected });
}

#[test]
fn times_come_back() {
    for (secs, nanos) in [(0, 0), (1_609_459_200, 5), (-1, 1), (-1, 0), (-5, 250_000_000), (7, 999_999_999)] {
        let at = Timestamp { secs, nanos };
        let mut user = BTreeMap::new();
        let said = Metadata { kind: Some(Kind::Symlink), mode: Some(0o4755), uid: Some(7), gid: None, mtime: Some(at) };
        said.write(&mut user);
        assert_eq!(Metadata::read(&user), said, "{user:?}");
        let set = SetAttr { mtime: Some(SetTime::At(at)), ..SetAttr::default() };
        write(&set, &mut user);
        assert_eq!(Metadata::read(&user), said, "{user:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let found = read(&[("mtime", &text), ("mode", &text), ("uid", &text), ("gid", &text)]);
        prop_assert!(found.mode.is_none_or(|mode| mode <= PERMISSIONS));
    }

    #[test]
    fn times_are_exact(secs in 0..1_i64 << 40, nanos in 0..1_000_000_000_u32) {
        prop_assert_eq!(seconds(&format!("{secs}.{nanos:09}")), time(secs, nanos));
    }
}
