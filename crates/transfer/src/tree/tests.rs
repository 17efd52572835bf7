use super::*;
use crate::import::There;
use stoa_objects::s3::Listed;

#[test]
fn a_file_that_can_t_be_made_durable_is_copied_again() {
    let path = tempfile::tempdir().unwrap();
    let tree = Tree::open(path.path()).unwrap();
    let listed = Listed {
        key: "key".to_owned(),
        size: 4,
        etag: Some("\"tag\"".to_owned()),
        modified: None,
        storage_class: None,
    };
    let written = ["bad", "own", "good"].map(|name| vec![Name::new(name.as_bytes().to_vec()).unwrap()]);
    for name in &written {
        let path = path.path().join(std::str::from_utf8(name[0].as_bytes()).unwrap());
        std::fs::write(&path, "text").unwrap();
        if name[0].as_bytes() != b"own" {
            Record::of(&listed).unwrap().keep(&File::open(path).unwrap()).unwrap();
        }
    }
    let there = |at: usize| {
        let (dir, name) = (tree.root(), &written[at][0]);
        let stat = look(&dir, name).unwrap().unwrap();
        Record::compare(&dir, name, &stat, &listed).unwrap()
    };
    assert_eq!([there(0), there(1), there(2)], [There::Same, There::Other, There::Same]);
    let seen = std::cell::Cell::new(0);
    let fsync = |_: &File| {
        seen.set(seen.get() + 1);
        if seen.get() < 3 { Err(Errno::IO) } else { Ok(()) }
    };
    assert!(sync_each(&tree, &written, fsync).is_err());
    assert_eq!([there(0), there(1), there(2)], [There::Older, There::Other, There::Same]);
}
