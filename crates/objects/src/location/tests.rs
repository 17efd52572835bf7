use super::Location;
use crate::Error;
use proptest::prelude::*;
use std::path::PathBuf;

fn reason(text: &str) -> String {
    match Location::parse(text) {
        Err(Error::BadUrl { url, reason }) => format!("{url}: {reason}"),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn buckets_and_prefixes() {
    for (text, canonical) in [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        ("S3://bucket/a b", "s3://bucket/a b"),
        ("gs://b.c-d_e/x", "gs://b.c-d_e/x"),
        ("az://container/x", "az://container/x"),
        ("memory:", "memory:"),
        ("memory://", "memory:"),
        ("file:///srv/data", "file:///srv/data"),
        ("/srv/./data/../data", "file:///srv/data"),
    ] {
        assert_eq!(Location::parse(text).unwrap().to_string(), canonical, "{text}");
    }
}

#[test]
fn a_relative_directory_is_taken_from_the_working_directory() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(Location::parse("data/x").unwrap(), Location::Directory(here.join("data/x")));
    assert_eq!(Location::parse("file:///a%20b").unwrap(), Location::Directory(PathBuf::from("/a b")));
}

#[test]
fn what_is_wrong_is_said() {
    assert!(reason("s3://").contains("no bucket"));
    assert!(reason("s3:///prefix").contains("no bucket"));
    assert!(reason("s3:bucket").contains("two slashes"));
    assert!(reason("ftp://x/y").contains("unknown scheme 'ftp'"));
    assert!(reason("https://s3.example.com/b").contains("endpoint"));
    assert!(reason("s3://bucket//x").contains("empty"));
    assert!(reason("s3://bucket/../x").contains(".."));
    assert!(reason("s3://b%63/x").contains("bucket's name"));
    assert!(reason("").contains("empty"));
    assert!(reason("file:///a?b").contains("%3F"));
}

#[test]
fn secrets_are_refused_and_not_repeated() {
    for text in
        ["s3://AKIA:s3cret@bucket/x", "s3://bucket/x?secret=s3cret", "az://c/x#s3cret", "https://a:s3cret@h/b?s3cret"]
    {
        let error = Location::parse(text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
    }
}

proptest! {
    #[test]
    fn the_canonical_form_reads_as_the_same_location(text in "(s3|gs|az)://[a-z0-9.-]{1,12}(/[a-zA-Z0-9 ._=+-]{1,8}){0,4}/?") {
        if let Ok(location) = Location::parse(&text) {
            prop_assert_eq!(Location::parse(&location.to_string()).unwrap(), location);
        }
    }

    #[test]
    fn any_directory_comes_back_from_its_url(path in "(/[^/\\x00]{1,10}){1,4}") {
        let location = Location::parse(&path).unwrap();
        prop_assert_eq!(Location::parse(&location.to_string()).unwrap(), location);
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,40}") {
        let _ = Location::parse(&text);
    }
}
