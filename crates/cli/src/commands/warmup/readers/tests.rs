use super::*;
use std::fs;

fn tree(files: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..files {
        fs::write(dir.path().join(format!("f{number}")), vec![1; 10_000]).unwrap();
    }
    dir
}

fn reading(dir: &tempfile::TempDir) -> Reading {
    Reading { paths: vec![dir.path().to_owned()], parallel: 3, flags: 0 }
}

#[test]
fn every_byte_is_read_but_holes_are_not() {
    let dir = tree(20);
    let sparse = File::create(dir.path().join("sparse")).unwrap();
    sparse.write_all_at(b"end", 1 << 30).unwrap();
    let shared = Shared::default();
    reading(&dir).run(&shared);
    assert_eq!((shared.files(), shared.errors().count), (21, 0));
    let read = shared.read_bytes();
    assert!((200_003..1 << 22).contains(&read), "{read}");
}

#[test]
fn it_stops_when_the_cache_is_full_or_somebody_says_so() {
    let dir = tree(50);
    let shared = Shared::default();
    shared.limit_bytes(100_000);
    reading(&dir).run(&shared);
    assert!(shared.is_full() && (70_000..=100_000).contains(&shared.read_bytes()), "{}", shared.read_bytes());
    let shared = Shared::default();
    shared.interrupt();
    reading(&dir).run(&shared);
    assert_eq!((shared.files(), shared.read_bytes(), shared.is_full()), (0, 0, false));
}

#[test]
fn errors_are_counted_and_only_so_many_listed() {
    let shared = Shared::default();
    for _ in 0..ERRORS_LISTED_MAX + 7 {
        shared.failed(Path::new("/f"), &io::Error::other("no"));
    }
    assert_eq!(shared.errors().listed.len(), ERRORS_LISTED_MAX);
    assert_eq!(shared.errors().left_out(), 7);
    note(&shared, Path::new("/gone"), &ErrorKind::NotFound.into());
    assert_eq!(shared.errors().left_out(), 7);
}
