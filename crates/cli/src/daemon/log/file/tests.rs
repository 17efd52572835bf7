use super::*;
use std::fs;

#[test]
fn a_log_is_appended_to_and_private() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("stoa.log");
    fs::write(&path, "before\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    LogFile::open(&path).unwrap().write_all(b"after\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "before\nafter\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_long_log_is_turned_and_two_files_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("stoa.log");
    let mut log = LogFile::open(&path).unwrap();
    log.bytes_max = 10;
    for line in ["one 1234567\n", "two 1234567\n", "three\n", "four\n"] {
        log.write_all(line.as_bytes()).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "three\nfour\n");
    assert_eq!(fs::read_to_string(dir.path().join("stoa.log.1")).unwrap(), "two 1234567\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}
