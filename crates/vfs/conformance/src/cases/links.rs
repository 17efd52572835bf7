//! Hard links and files without a name.

use crate::fs::{CALLER, Fs, ROOT, name, plain, refused};
use bytes::Bytes;
use stoa_vfs::Node;

pub async fn two_names_are_one_file(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    let ino = fs.file_with(ROOT, "a", b"one").await;
    let linked = fs.link(ino, dir, &name("b")).await.unwrap().attr;
    assert_eq!((linked.ino, linked.nlink), (ino, 2));
    assert_eq!(fs.find(dir, "b").await, Ok(ino));
    fs.put(fs.find(dir, "b").await.unwrap(), 0, b"two").await;
    fs.expect(fs.find(ROOT, "a").await.unwrap(), b"two").await;
    fs.chmod(ino, 0o600).await;
    assert_eq!(fs.lookup(dir, &name("b")).await.unwrap().attr.mode, 0o600);
}

pub async fn the_last_name_keeps_the_file(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let ino = fs.file_with(ROOT, "a", b"content").await;
    fs.link(ino, ROOT, &name("b")).await.unwrap();
    fs.unlink(ROOT, &name("a")).await.unwrap();
    assert_eq!(fs.nlink(ino).await, 1);
    refused(fs.find(ROOT, "a").await, libc::ENOENT);
    fs.forget(ino, 2);
    let found = fs.find(ROOT, "b").await.unwrap();
    assert_eq!(found, ino);
    fs.expect(found, b"content").await;
}

pub async fn directories_have_one_name(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    refused(fs.link(dir, ROOT, &name("again")).await, libc::EPERM);
    assert_eq!(fs.names(ROOT).await, ["dir"]);
    assert_eq!(fs.nlink(dir).await, 2);
}

pub async fn a_link_replaces_nothing(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let a = fs.file(ROOT, "a").await;
    let b = fs.file(ROOT, "b").await;
    fs.dir(ROOT, "dir").await;
    for taken in ["a", "b", "dir"] {
        refused(fs.link(a, ROOT, &name(taken)).await, libc::EEXIST);
    }
    refused(fs.link(a, b, &name("x")).await, libc::ENOTDIR);
    assert_eq!(fs.nlink(a).await, 1);
    assert_eq!(fs.find(ROOT, "b").await, Ok(b));
}

pub async fn symlinks_and_special_files_can_be_linked(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let link = fs.symlink(ROOT, "link", "target").await;
    assert_eq!(fs.link(link, ROOT, &name("link2")).await.unwrap().attr.nlink, 2);
    assert_eq!(fs.readlink(fs.find(ROOT, "link2").await.unwrap()).await.unwrap(), "target");
    if fs.can.special_files {
        let fifo = fs.node(ROOT, "fifo", Node::Special { kind: stoa_vfs::Kind::Fifo, rdev: 0 }).await;
        assert_eq!(fs.link(fifo, ROOT, &name("fifo2")).await.unwrap().attr.nlink, 2);
    }
}

pub async fn many_links(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    const LINKS: u32 = 500;
    let ino = fs.file(ROOT, "0").await;
    for link in 1..LINKS {
        fs.link(ino, ROOT, &name(link.to_string())).await.unwrap();
    }
    assert_eq!(fs.nlink(ino).await, LINKS);
    assert!(fs.list(ROOT).await.values().all(|(listed, _)| *listed == ino));
    for link in 1..LINKS {
        fs.unlink(ROOT, &name(link.to_string())).await.unwrap();
    }
    assert_eq!(fs.nlink(ino).await, 1);
}

pub async fn a_file_that_lost_its_last_name_gets_no_other(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    fs.unlink(ROOT, &name("a")).await.unwrap();
    refused(fs.link(ino, ROOT, &name("b")).await, libc::ENOENT);
    assert!(fs.names(ROOT).await.is_empty());
}

pub async fn an_unnamed_file_can_be_named(fs: Fs) {
    if !fs.can.unnamed_files {
        return;
    }
    let ino = fs.make_unnamed(CALLER, ROOT, &plain(Node::Regular)).await.unwrap().attr.ino;
    assert_eq!(fs.nlink(ino).await, 0);
    assert!(fs.names(ROOT).await.is_empty());
    fs.put(ino, 0, b"written before it had a name").await;
    assert_eq!(fs.link(ino, ROOT, &name("a")).await.unwrap().attr.nlink, 1);
    fs.forget(ino, 2);
    let found = fs.find(ROOT, "a").await.unwrap();
    assert_eq!(found, ino);
    fs.expect(found, b"written before it had a name").await;
}

pub async fn an_unnamed_file_goes_with_its_last_reference(fs: Fs) {
    if !fs.can.unnamed_files {
        return;
    }
    let ino = fs.make_unnamed(CALLER, ROOT, &plain(Node::Regular)).await.unwrap().attr.ino;
    fs.put(ino, 0, b"content").await;
    fs.expect(ino, b"content").await;
    fs.forget(ino, 1);
    refused(fs.getattr(ino).await, libc::ESTALE);
}

pub async fn only_regular_files_can_be_unnamed(fs: Fs) {
    if !fs.can.unnamed_files {
        return;
    }
    for node in [Node::Directory, Node::Symlink(Bytes::from_static(b"x"))] {
        refused(fs.make_unnamed(CALLER, ROOT, &plain(node)).await, libc::EINVAL);
    }
    let file = fs.file(ROOT, "file").await;
    refused(fs.make_unnamed(CALLER, file, &plain(Node::Regular)).await, libc::ENOTDIR);
}
