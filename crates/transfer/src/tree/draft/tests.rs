use super::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

fn draft(path: &Path) -> Result<Draft> {
    Draft::file(open(path), "temporary".to_owned(), None)
}

fn open(path: &Path) -> Dir {
    Arc::new(File::open(path).unwrap().into())
}

fn place(draft: Draft) -> Result<()> {
    draft.place(&Name::new(b"file".to_vec()).unwrap(), None)
}

fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    entries.collect()
}

#[test]
fn what_another_import_is_at_work_on_is_left_to_it() {
    let path = tempfile::tempdir().unwrap();
    let first = draft(path.path()).unwrap();
    first.write(b"half", 0).unwrap();
    assert!(matches!(draft(path.path()), Err(Error::Refused(_))));
    let link = Draft::link(open(path.path()), "temporary".to_owned(), b"target");
    assert!(matches!(link, Err(Error::Refused(_))));
    first.write(b" and half", 4).unwrap();
    place(first).unwrap();
    assert_eq!(std::fs::read(path.path().join("file")).unwrap(), b"half and half");
    assert_eq!(names(path.path()), ["file"]);
    drop(draft(path.path()).unwrap());
    assert_eq!(names(path.path()), ["file"]);
}

#[test]
fn what_a_killed_import_left_is_removed() {
    for mode in [0o644, 0o400, 0o000] {
        let path = tempfile::tempdir().unwrap();
        let left = path.path().join("temporary");
        std::fs::write(&left, "left").unwrap();
        std::fs::set_permissions(&left, PermissionsExt::from_mode(mode)).unwrap();
        std::os::unix::fs::symlink("left", path.path().join("temporary.link")).unwrap();
        place(draft(path.path()).unwrap()).unwrap();
        assert_eq!(std::fs::read(path.path().join("file")).unwrap(), b"");
        assert_eq!(names(path.path()), ["file"]);
        std::fs::write(&left, "left").unwrap();
        drop(Draft::link(open(path.path()), "temporary".to_owned(), b"target").unwrap());
        assert_eq!(names(path.path()), ["file"]);
    }
}

#[test]
fn what_is_of_somebody_else_by_now_is_neither_put_in_place_nor_removed() {
    let path = tempfile::tempdir().unwrap();
    let first = draft(path.path()).unwrap();
    std::fs::remove_file(path.path().join("temporary")).unwrap();
    std::fs::write(path.path().join("temporary"), "of somebody else").unwrap();
    assert!(matches!(place(first), Err(Error::Refused(_))));
    assert_eq!(names(path.path()), ["temporary"]);
}

#[test]
fn nobody_reads_a_private_file_before_it_has_its_place() {
    let path = tempfile::tempdir().unwrap();
    let _draft = Draft::file(open(path.path()), "temporary".to_owned(), Some(0o104_600)).unwrap();
    let mode = std::fs::metadata(path.path().join("temporary")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
}
