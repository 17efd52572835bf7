//! Extended attributes.

use crate::fs::{Fs, ROOT, name, pattern, refused};
use bytes::Bytes;
use std::collections::BTreeSet;
use stoa_vfs::XattrMode::{Create, Replace, Set};
use stoa_vfs::{Ino, RenameMode};

async fn set(fs: &Fs, ino: Ino, name: &str, value: &'static [u8]) {
    fs.setxattr(ino, name.as_bytes(), Bytes::from_static(value), Set, false).await.unwrap();
}

async fn names(fs: &Fs, ino: Ino) -> BTreeSet<String> {
    let listed = fs.listxattr(ino).await.unwrap();
    let names: BTreeSet<_> = listed.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    assert_eq!(names.len(), listed.len(), "a name was listed twice");
    names
}

pub async fn set_get_list_remove(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    assert!(names(&fs, ino).await.is_empty());
    refused(fs.getxattr(ino, b"user.a").await, libc::ENODATA);
    for attribute in ["user.a", "trusted.b", "security.c"] {
        set(&fs, ino, attribute, b"value").await;
        assert_eq!(fs.getxattr(ino, attribute.as_bytes()).await.unwrap(), "value");
    }
    let all = ["user.a", "trusted.b", "security.c"].map(String::from);
    assert_eq!(names(&fs, ino).await, all.into());
    fs.removexattr(ino, b"trusted.b").await.unwrap();
    refused(fs.removexattr(ino, b"trusted.b").await, libc::ENODATA);
    refused(fs.getxattr(ino, b"trusted.b").await, libc::ENODATA);
    assert_eq!(names(&fs, ino).await.len(), 2);
}

pub async fn create_and_replace(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    let value = |text: &'static str| Bytes::from_static(text.as_bytes());
    refused(fs.setxattr(ino, b"user.a", value("0"), Replace, false).await, libc::ENODATA);
    fs.setxattr(ino, b"user.a", value("1"), Create, false).await.unwrap();
    refused(fs.setxattr(ino, b"user.a", value("2"), Create, false).await, libc::EEXIST);
    assert_eq!(fs.getxattr(ino, b"user.a").await.unwrap(), "1");
    fs.setxattr(ino, b"user.a", value("3"), Replace, false).await.unwrap();
    assert_eq!(fs.getxattr(ino, b"user.a").await.unwrap(), "3");
}

pub async fn values_of_every_size(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    for size in [0, 1, 255, 4_096, 65_535, 65_536, 10] {
        let value = pattern(size as u64, size);
        fs.setxattr(ino, b"user.a", Bytes::from(value.clone()), Set, false).await.unwrap();
        assert!(fs.getxattr(ino, b"user.a").await.unwrap() == value, "value of {size} bytes");
    }
    let big = Bytes::from(vec![1; 65_537]);
    refused(fs.setxattr(ino, b"user.a", big, Set, false).await, libc::E2BIG);
    assert_eq!(fs.getxattr(ino, b"user.a").await.unwrap().len(), 10);
    set(&fs, ino, "user.nul", b"a\0b\0").await;
    assert_eq!(fs.getxattr(ino, b"user.nul").await.unwrap(), b"a\0b\0".as_slice());
}

pub async fn names_of_every_kind(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    let long = format!("user.{}", "x".repeat(250));
    for attribute in [long.as_str(), "user.a.b.c", "user.A", "user.a", "user.\u{e9}", "user. "] {
        set(&fs, ino, attribute, b"v").await;
    }
    assert_eq!(names(&fs, ino).await.len(), 6);
    assert!(names(&fs, ino).await.contains(&long));
    for unknown in [b"a".as_slice(), b"other.a", b"system.a", b"userx.a"] {
        refused(fs.setxattr(ino, unknown, Bytes::from_static(b"v"), Set, false).await, libc::ENOTSUP);
    }
    assert!(fs.setxattr(ino, b"user.", Bytes::new(), Set, false).await.is_err());
    assert!(fs.setxattr(ino, &[b"user.".as_slice(), &[b'x'; 251]].concat(), Bytes::new(), Set, false).await.is_err());
    assert_eq!(names(&fs, ino).await.len(), 6);
}

pub async fn many_attributes(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    for attribute in 0..200_u64 {
        let value = Bytes::from(pattern(attribute, 100));
        fs.setxattr(ino, format!("user.{attribute}").as_bytes(), value, Set, false).await.unwrap();
    }
    assert_eq!(names(&fs, ino).await.len(), 200);
    for attribute in 0..200_u64 {
        let value = fs.getxattr(ino, format!("user.{attribute}").as_bytes()).await.unwrap();
        assert_eq!(value, pattern(attribute, 100));
    }
}

pub async fn every_kind_of_inode_has_its_own(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file(dir, "file").await;
    let link = fs.symlink(dir, "link", "file").await;
    for (ino, value) in [(ROOT, b"0".as_slice()), (dir, b"1"), (file, b"2"), (link, b"3")] {
        set(&fs, ino, "trusted.a", value).await;
    }
    for (ino, value) in [(ROOT, "0"), (dir, "1"), (file, "2"), (link, "3")] {
        assert_eq!(fs.getxattr(ino, b"trusted.a").await.unwrap(), value);
    }
}

pub async fn they_stay_with_the_inode(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    set(&fs, ino, "user.a", b"kept").await;
    fs.rename(ROOT, &name("a"), ROOT, &name("b"), RenameMode::Replace).await.unwrap();
    fs.put(ino, 0, b"content").await;
    fs.set_size(ino, 0).await;
    fs.chmod(ino, 0o600).await;
    fs.sync().await.unwrap();
    assert_eq!(fs.getxattr(ino, b"user.a").await.unwrap(), "kept");
    fs.unlink(ROOT, &name("b")).await.unwrap();
    assert_eq!(fs.getxattr(ino, b"user.a").await.unwrap(), "kept");
    fs.forget(ino, 1);
    let again = fs.file(ROOT, "b").await;
    assert!(names(&fs, again).await.is_empty());
}
