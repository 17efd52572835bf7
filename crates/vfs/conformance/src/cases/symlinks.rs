//! Symbolic links.

use crate::fs::{CALLER, Fs, ROOT, name, plain, refused};
use bytes::Bytes;
use stoa_vfs::{Kind, Node};

fn link(target: impl Into<Bytes>) -> stoa_vfs::Make {
    plain(Node::Symlink(target.into()))
}

pub async fn targets_are_kept(fs: Fs) {
    let long = "x/".repeat(2_047) + "y";
    for (step, target) in ["a", "/", "../..", "no/such/file", " ", "\u{e9}", &long].into_iter().enumerate() {
        let at = step.to_string();
        let made = fs.make(CALLER, ROOT, &name(&at), &link(target.as_bytes().to_vec())).await.unwrap().attr;
        assert_eq!((made.kind, made.size, made.nlink), (Kind::Symlink, target.len() as u64, 1));
        assert_eq!(fs.readlink(fs.find(ROOT, &at).await.unwrap()).await.unwrap(), target);
    }
}

pub async fn targets_are_bytes(fs: Fs) {
    let target: Vec<u8> = (1..=255).collect();
    let ino = fs.make(CALLER, ROOT, &name("a"), &link(target.clone())).await.unwrap().attr.ino;
    assert_eq!(fs.readlink(ino).await.unwrap(), target);
}

pub async fn targets_have_1_to_4095_bytes(fs: Fs) {
    refused(fs.make(CALLER, ROOT, &name("long"), &link(vec![b'x'; 4_096])).await, libc::ENAMETOOLONG);
    assert!(fs.make(CALLER, ROOT, &name("empty"), &link(Bytes::new())).await.is_err());
    assert!(fs.names(ROOT).await.is_empty());
}

pub async fn only_links_are_read(fs: Fs) {
    let file = fs.file(ROOT, "file").await;
    refused(fs.readlink(file).await, libc::EINVAL);
    refused(fs.readlink(ROOT).await, libc::EINVAL);
}

pub async fn links_are_not_followed(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let link = fs.symlink(ROOT, "link", "dir").await;
    assert_eq!(fs.find(ROOT, "link").await, Ok(link));
    assert_eq!(fs.attr(link).await.kind, Kind::Symlink);
    fs.unlink(ROOT, &name("link")).await.unwrap();
    assert_eq!(fs.find(ROOT, "dir").await, Ok(dir));
}
