use super::*;
use crate::daemon::limited;
use std::path::Path;
use stoa_volume::{ExtentInfo, FileInfo};

#[test]
fn what_the_volume_reports_is_understood_and_shown() {
    let data = ExtentInfo {
        offset: 0,
        len: 4096,
        kind: "data",
        segment: Some("data/3f/x".into()),
        frames: 1,
        stored_bytes: 1536,
    };
    let hole = ExtentInfo { offset: 4096, len: 8192, kind: "hole", segment: None, frames: 0, stored_bytes: 0 };
    let info =
        FileInfo { ino: 42, kind: "regular".into(), size: 12288, links: 1, dirty_bytes: 0, extents: vec![data, hole] };
    let mut value = limited(&info, "extents").unwrap();
    value["path"] = "/mnt/file".into();
    value["store"] = "/srv/store".into();
    let expected = "\
/mnt/file
  store    /srv/store
  inode    42, regular, 1 name
  size     12.0 KiB (12,288 bytes)
  dirty    0 B not in the store yet
  extents  2

offset  length  kind  frames   stored  segment
     0   4,096  data       1  1.5 KiB  data/3f/x
 4,096   8,192  hole       0      0 B";
    assert_eq!(File::read(&value).unwrap().text(), expected);
}

#[test]
fn a_path_that_is_nowhere_in_a_mount_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let args = |path: &Path| Info { path: path.to_owned(), report: crate::args::Report { json: false } };
    let failure = run(&args(dir.path())).unwrap_err();
    assert!(failure.what().contains("is not in a Stoa mount"), "{failure:?}");
    let failure = run(&args(&dir.path().join("gone"))).unwrap_err();
    assert!(failure.what().contains("gone: No such file"), "{failure:?}");
}
