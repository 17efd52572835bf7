use super::*;
use crate::Options;
use crate::directory::Directory;
use crate::found::Finder;
use stoa_objects::s3::Listed;

fn object(key: &str, etag: &str) -> Found {
    let listed =
        Listed { key: key.to_owned(), size: 1, etag: Some(etag.to_owned()), modified: None, storage_class: None };
    Finder::new(&Options::default()).listed(listed)
}

fn directory(prefix: &str) -> Found {
    Finder::new(&Options::default()).directory(Directory::new(prefix), None)
}

#[test]
fn a_number_is_the_same_before_while_and_after_it_is_referred_to() {
    let inodes = Inodes::new(&directory(""));
    let (cat, dog) = (object("cat", "1"), object("dog", "1"));
    let before = inodes.number(&cat.target);
    assert_eq!(inodes.get(before).err(), Some(Error::Stale));
    let entry = inodes.hand_out(&cat);
    assert_eq!(entry.attr.ino, before);
    assert_eq!(inodes.hand_out(&cat).attr.ino, before);
    assert_ne!(inodes.hand_out(&dog).attr.ino, before);
    assert_eq!(inodes.count(), 3);
    inodes.forget(before, 1);
    assert_eq!(inodes.get(before).map(|node| node.target()), Ok(cat.target.clone()));
    inodes.forget(before, 1);
    assert_eq!(inodes.get(before).err(), Some(Error::Stale));
    assert_eq!((inodes.count(), inodes.number(&cat.target)), (2, before));
}

#[test]
fn other_content_is_another_inode() {
    let inodes = Inodes::new(&directory(""));
    let numbers = [object("a", "1"), object("a", "2"), directory("a"), directory("a/"), object("a/", "1")];
    let numbers: std::collections::HashSet<_> = numbers.iter().map(|found| inodes.hand_out(found).attr.ino).collect();
    assert_eq!(numbers.len(), 5);
}

#[test]
fn the_root_is_always_there() {
    let inodes = Inodes::new(&directory("photos/"));
    assert_eq!(inodes.hand_out(&directory("photos/")).attr.ino, Ino::ROOT);
    inodes.forget(Ino::ROOT, 10);
    assert!(inodes.get(Ino::ROOT).is_ok());
}

#[test]
fn two_with_one_hash_have_two_numbers() {
    let (first, second) = (object("first", "1"), object("second", "1"));
    let taken = number(&second.target, |_| None);
    let occupied = |ino| (ino == taken).then(|| first.target.clone());
    assert_eq!(number(&second.target, occupied), Ino(taken.0 + 1));
    let own = |ino| (ino == taken).then(|| second.target.clone());
    assert_eq!(number(&second.target, own), taken);
}

#[test]
fn the_last_that_was_heard_of_it_is_shown() {
    let inodes = Inodes::new(&directory(""));
    let mut cat = object("cat", "1");
    let ino = inodes.hand_out(&cat).attr.ino;
    cat.looks.kind = stoa_vfs::Kind::Symlink;
    inodes.hand_out(&cat);
    assert_eq!(inodes.get(ino).unwrap().attr().kind, stoa_vfs::Kind::Symlink);
}

#[test]
fn what_is_written_keeps_its_number() {
    let inodes = Inodes::new(&directory(""));
    let (old, new) = (object("a", "1"), object("a", "2"));
    let ino = inodes.hand_out(&old).attr.ino;
    inodes.became(&inodes.get(ino).unwrap(), new.target.clone());
    assert_eq!(inodes.hand_out(&new).attr.ino, ino);
    // The former content, should it come back, is another file.
    assert_ne!(inodes.hand_out(&old).attr.ino, ino);
    inodes.forget(ino, 2);
    assert_ne!(inodes.number(&new.target), ino);
}

#[test]
fn only_another_key_is_a_move() {
    let inodes = Inodes::new(&directory(""));
    let ino = inodes.hand_out(&object("a", "1")).attr.ino;
    let node = inodes.get(ino).unwrap();
    inodes.became(&node, object("a", "2").target);
    assert_eq!(inodes.moved(), 0);
    inodes.became(&node, object("b", "2").target);
    assert_eq!(inodes.moved(), 1);
}

#[test]
fn a_number_stays_when_whoever_had_the_one_before_is_gone() {
    let inodes = Inodes::new(&directory(""));
    let (old, new) = (object("a", "1"), object("a", "2"));
    let ino = inodes.hand_out(&old).attr.ino;
    inodes.became(&inodes.get(ino).unwrap(), new.target.clone());
    let other = inodes.hand_out(&old).attr.ino;
    inodes.forget(ino, 1);
    assert_eq!((inodes.number(&old.target), inodes.hand_out(&old).attr.ino), (other, other));
    inodes.forget(other, 2);
    assert_eq!(inodes.number(&old.target), ino);
}
