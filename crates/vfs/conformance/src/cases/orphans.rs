//! Inodes without a name: they live as long as somebody refers to them, and then are gone.

use crate::fs::{Fs, ROOT, WRITE, name, refused};
use bytes::Bytes;
use stoa_vfs::{Cookie, RenameMode, SetAttr};

pub async fn an_unlinked_open_file_lives(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"before").await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    fs.unlink(ROOT, &name("a")).await.unwrap();
    fs.forget(ino, 1);
    assert_eq!(fs.nlink(ino).await, 0);
    fs.write(ino, handle, 6, Bytes::from_static(b" and after"), stoa_vfs::WriteFlags::default()).await.unwrap();
    assert_eq!(fs.read(ino, handle, 0, 100).await.unwrap().concat(), b"before and after");
    fs.fsync(ino).await.unwrap();
    assert_eq!(fs.read(ino, handle, 0, 100).await.unwrap().concat(), b"before and after");
    fs.release(ino, handle).await;
    refused(fs.getattr(ino).await, libc::ESTALE);
}

pub async fn every_handle_keeps_it(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    let first = fs.open(ino, WRITE).await.unwrap();
    let second = fs.open(ino, WRITE).await.unwrap();
    fs.unlink(ROOT, &name("a")).await.unwrap();
    fs.forget(ino, 1);
    fs.release(ino, first).await;
    assert_eq!(fs.read(ino, second, 0, 100).await.unwrap().concat(), b"content");
    fs.release(ino, second).await;
    refused(fs.open(ino, WRITE).await, libc::ESTALE);
}

pub async fn an_unlinked_referenced_file_lives(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    fs.unlink(ROOT, &name("a")).await.unwrap();
    assert_eq!(fs.nlink(ino).await, 0);
    fs.expect(ino, b"content").await;
    fs.set_size(ino, 3).await;
    fs.put(ino, 3, b"crete").await;
    fs.expect(ino, b"concrete").await;
    assert_eq!(fs.chmod(ino, 0o600).await.mode, 0o600);
}

pub async fn forget_counts_references(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    for _ in 0..4 {
        assert_eq!(fs.find(ROOT, "a").await, Ok(ino));
    }
    fs.unlink(ROOT, &name("a")).await.unwrap();
    fs.forget(ino, 1);
    fs.forget(ino, 3);
    assert_eq!(fs.nlink(ino).await, 0);
    fs.forget(ino, 1);
    refused(fs.getattr(ino).await, libc::ESTALE);
}

pub async fn listed_entries_are_references(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let page = fs.readdir(ROOT, Cookie::START, 10, true).await.unwrap();
    assert_eq!(page.entries[0].entry.as_ref().unwrap().attr.ino, ino);
    fs.readdir(ROOT, Cookie::START, 10, false).await.unwrap();
    fs.unlink(ROOT, &name("a")).await.unwrap();
    fs.forget(ino, 1);
    assert_eq!(fs.nlink(ino).await, 0);
    fs.forget(ino, 1);
    refused(fs.getattr(ino).await, libc::ESTALE);
}

pub async fn everything_says_stale(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    fs.unlink(ROOT, &name("a")).await.unwrap();
    fs.forget(ino, 1);
    refused(fs.getattr(ino).await, libc::ESTALE);
    refused(fs.setattr(ino, &SetAttr { mode: Some(0), ..SetAttr::default() }).await, libc::ESTALE);
    refused(fs.open(ino, WRITE).await, libc::ESTALE);
    refused(fs.fsync(ino).await, libc::ESTALE);
    refused(fs.readlink(ino).await, libc::ESTALE);
    refused(fs.seek(ino, 0, stoa_vfs::Seek::Data).await, libc::ESTALE);
    if fs.can.xattrs {
        refused(fs.getxattr(ino, b"user.a").await, libc::ESTALE);
        refused(fs.listxattr(ino).await, libc::ESTALE);
    }
    if fs.can.hard_links {
        refused(fs.link(ino, ROOT, &name("b")).await, libc::ESTALE);
    }
}

pub async fn a_named_file_needs_no_reference(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    fs.forget(ino, 1);
    let found = fs.find(ROOT, "a").await.unwrap();
    assert_eq!(found, ino);
    fs.expect(found, b"content").await;
}

pub async fn a_removed_directory_is_empty_and_then_stale(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    fs.rmdir(ROOT, &name("dir")).await.unwrap();
    assert_eq!(fs.nlink(dir).await, 0);
    assert!(fs.names(dir).await.is_empty());
    fs.forget(dir, 1);
    refused(fs.getattr(dir).await, libc::ESTALE);
    refused(fs.find(dir, "a").await, libc::ESTALE);
}

pub async fn a_replaced_file_lives_while_open(fs: Fs) {
    let old = fs.file_with(ROOT, "a", b"old").await;
    let handle = fs.open(old, WRITE).await.unwrap();
    fs.forget(old, 1);
    let new = fs.file_with(ROOT, "b", b"new").await;
    fs.rename(ROOT, &name("b"), ROOT, &name("a"), RenameMode::Replace).await.unwrap();
    assert_eq!(fs.find(ROOT, "a").await, Ok(new));
    assert_eq!(fs.read(old, handle, 0, 100).await.unwrap().concat(), b"old");
    fs.release(old, handle).await;
    refused(fs.getattr(old).await, libc::ESTALE);
    fs.expect(new, b"new").await;
}

pub async fn a_replaced_directory_goes(fs: Fs) {
    let old = fs.dir(ROOT, "old").await;
    let new = fs.dir(ROOT, "new").await;
    fs.rename(ROOT, &name("new"), ROOT, &name("old"), RenameMode::Replace).await.unwrap();
    assert_eq!(fs.nlink(old).await, 0);
    fs.forget(old, 1);
    refused(fs.getattr(old).await, libc::ESTALE);
    assert_eq!(fs.find(ROOT, "old").await, Ok(new));
}

pub async fn the_root_is_never_forgotten(fs: Fs) {
    fs.forget(ROOT, 1_000_000);
    assert_eq!(fs.attr(ROOT).await.nlink, 2);
    fs.file(ROOT, "a").await;
    assert_eq!(fs.names(ROOT).await, ["a"]);
}
