//! Making, finding and removing names.

use crate::fs::{CALLER, Fs, ROOT, name, plain, refused};
use bytes::Bytes;
use stoa_vfs::{Kind, Node};

pub async fn what_is_made_is_found(fs: Fs) {
    let made = fs.make(CALLER, ROOT, &name("a"), &plain(Node::Regular)).await.unwrap().attr;
    let found = fs.lookup(ROOT, &name("a")).await.unwrap().attr;
    assert_eq!(made.ino, found.ino);
    assert_eq!((found.kind, found.nlink, found.size), (Kind::Regular, 1, 0));
    assert_eq!(fs.names(ROOT).await, ["a"]);
}

pub async fn what_is_not_there_is_not_found(fs: Fs) {
    refused(fs.find(ROOT, "a").await, libc::ENOENT);
    refused(fs.unlink(ROOT, &name("a")).await, libc::ENOENT);
    refused(fs.rmdir(ROOT, &name("a")).await, libc::ENOENT);
}

pub async fn a_name_is_made_once(fs: Fs) {
    let file = fs.file(ROOT, "file").await;
    let dir = fs.dir(ROOT, "dir").await;
    for taken in ["file", "dir"] {
        for node in [Node::Regular, Node::Directory, Node::Symlink(Bytes::from_static(b"x"))] {
            refused(fs.make(CALLER, ROOT, &name(taken), &plain(node)).await, libc::EEXIST);
        }
    }
    assert_eq!(fs.find(ROOT, "file").await, Ok(file));
    assert_eq!(fs.find(ROOT, "dir").await, Ok(dir));
}

pub async fn names_of_255_bytes(fs: Fs) {
    let long: Vec<String> = ["a", "b"].iter().map(|byte| format!("{}{byte}", "x".repeat(254))).collect();
    for name in &long {
        fs.file(ROOT, name).await;
    }
    assert_eq!(fs.names(ROOT).await, long);
    assert_ne!(fs.find(ROOT, &long[0]).await.unwrap(), fs.find(ROOT, &long[1]).await.unwrap());
}

pub async fn names_of_every_byte(fs: Fs) {
    let mut expected = Vec::new();
    for byte in (1..=255_u8).filter(|byte| *byte != b'/') {
        let bytes = vec![b'n', byte];
        let ino = fs.file(ROOT, &bytes).await;
        expected.push((bytes, (ino, Kind::Regular)));
    }
    assert_eq!(fs.list(ROOT).await.into_iter().collect::<Vec<_>>(), expected);
    for (bytes, (ino, _)) in expected {
        assert_eq!(fs.find(ROOT, &bytes).await, Ok(ino));
    }
}

pub async fn names_are_not_folded(fs: Fs) {
    // Lower and upper case; one letter composed and decomposed; a trailing dot and space.
    let names = ["a", "A", "\u{e9}", "e\u{301}", "b", "b.", "b ", ".b", "..b", "-b", "\\", "*", "%2F"];
    for name in names {
        fs.file(ROOT, name).await;
    }
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    assert_eq!(fs.names(ROOT).await, sorted);
}

pub async fn only_directories_hold_names(fs: Fs) {
    let file = fs.file(ROOT, "file").await;
    let link = fs.symlink(ROOT, "link", "file").await;
    for ino in [file, link] {
        refused(fs.find(ino, "a").await, libc::ENOTDIR);
        refused(fs.make(CALLER, ino, &name("a"), &plain(Node::Regular)).await, libc::ENOTDIR);
        refused(fs.unlink(ino, &name("a")).await, libc::ENOTDIR);
        refused(fs.rmdir(ino, &name("a")).await, libc::ENOTDIR);
    }
}

pub async fn unlink_removes_files_only(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    fs.file(dir, "a").await;
    fs.symlink(dir, "b", "nowhere").await;
    fs.unlink(dir, &name("a")).await.unwrap();
    fs.unlink(dir, &name("b")).await.unwrap();
    assert!(fs.names(dir).await.is_empty());
    refused(fs.find(dir, "a").await, libc::ENOENT);
    refused(fs.unlink(ROOT, &name("dir")).await, libc::EISDIR);
    assert_eq!(fs.find(ROOT, "dir").await, Ok(dir));
}

pub async fn rmdir_removes_empty_directories_only(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    fs.file(dir, "file").await;
    refused(fs.rmdir(dir, &name("file")).await, libc::ENOTDIR);
    refused(fs.rmdir(ROOT, &name("dir")).await, libc::ENOTEMPTY);
    fs.unlink(dir, &name("file")).await.unwrap();
    fs.rmdir(ROOT, &name("dir")).await.unwrap();
    refused(fs.find(ROOT, "dir").await, libc::ENOENT);
    assert!(fs.names(ROOT).await.is_empty());
}

pub async fn a_removed_directory_takes_no_names(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file(ROOT, "file").await;
    fs.rmdir(ROOT, &name("dir")).await.unwrap();
    for node in [Node::Regular, Node::Directory] {
        refused(fs.make(CALLER, dir, &name("a"), &plain(node)).await, libc::ENOENT);
    }
    refused(fs.find(dir, "a").await, libc::ENOENT);
    if fs.can.hard_links {
        refused(fs.link(file, dir, &name("a")).await, libc::ENOENT);
    }
    assert_eq!(fs.attr(file).await.nlink, 1);
}

pub async fn a_name_that_is_made_again_is_another_file(fs: Fs) {
    let first = fs.file_with(ROOT, "a", b"first").await;
    fs.unlink(ROOT, &name("a")).await.unwrap();
    fs.forget(first, 1);
    let second = fs.file(ROOT, "a").await;
    assert_ne!(first, second, "an inode number was used twice");
    fs.expect(second, b"").await;
}

pub async fn directories_know_their_parent(fs: Fs) {
    let outer = fs.dir(ROOT, "outer").await;
    let inner = fs.dir(outer, "inner").await;
    assert_eq!(fs.parent(ROOT).await, Ok(ROOT));
    assert_eq!(fs.parent(outer).await, Ok(ROOT));
    assert_eq!(fs.parent(inner).await, Ok(outer));
}

pub async fn directories_nest_deep(fs: Fs) {
    const DEPTH: usize = 200;
    let mut dirs = vec![ROOT];
    for _ in 0..DEPTH {
        dirs.push(fs.dir(dirs[dirs.len() - 1], "d").await);
    }
    let mut at = ROOT;
    for expected in &dirs[1..] {
        at = fs.find(at, "d").await.unwrap();
        assert_eq!(at, *expected);
    }
    dirs.pop();
    while let Some(parent) = dirs.pop() {
        fs.rmdir(parent, &name("d")).await.unwrap();
    }
    assert!(fs.names(ROOT).await.is_empty());
}

pub async fn same_name_in_different_directories(fs: Fs) {
    let (a, b) = (fs.dir(ROOT, "a").await, fs.dir(ROOT, "b").await);
    let in_a = fs.file_with(a, "x", b"in a").await;
    let in_b = fs.file_with(b, "x", b"in b").await;
    fs.unlink(a, &name("x")).await.unwrap();
    fs.expect(in_b, b"in b").await;
    assert_eq!(fs.find(b, "x").await, Ok(in_b));
    fs.expect(in_a, b"in a").await;
}
