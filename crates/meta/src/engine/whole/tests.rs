use super::*;
use bytes::Bytes;
use stoa_vfs::{Kind, Name};

const DIRECTORY: Ino = Ino(7);

fn bucket(name: &'static str) -> Bucket {
    let name = Name::new(Bytes::from_static(name.as_bytes())).expect("a name");
    Bucket::default().with(&name, Ino(8), Kind::Regular).expect("room")
}

#[test]
fn only_of_a_directory_that_is_known_is_anything_certain() {
    let whole = Whole::new(1 << 20);
    assert!(!whole.lacks(DIRECTORY, 1));
    whole.changed(DIRECTORY, 1, &bucket("a"));
    assert!(!whole.lacks(DIRECTORY, 2));
}

#[test]
fn names_that_come_and_go_are_kept_up_with() {
    let whole = Whole::new(1 << 20);
    whole.know(DIRECTORY, HashSet::from([1]));
    assert!(!whole.lacks(DIRECTORY, 1));
    assert!(whole.lacks(DIRECTORY, 2));
    whole.changed(DIRECTORY, 2, &bucket("b"));
    assert!(!whole.lacks(DIRECTORY, 2));
    whole.changed(DIRECTORY, 1, &Bucket::default());
    assert!(whole.lacks(DIRECTORY, 1));
}

#[test]
fn a_directory_that_outgrows_the_memory_is_forgotten_not_wrong() {
    let whole = Whole::new(4096);
    whole.know(DIRECTORY, HashSet::new());
    for hash in 0..10_000 {
        whole.changed(DIRECTORY, hash, &bucket("c"));
    }
    assert!((0..10_000).all(|hash| !whole.lacks(DIRECTORY, hash)));
    assert!(whole.0.weight() <= 4096);
}
