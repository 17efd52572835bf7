//! Attributes: what a new inode gets, and what setattr changes.

use crate::fs::{CALLER, Fs, ROOT, WRITE, name, plain, refused};
use bytes::Bytes;
use stoa_vfs::{Caller, Kind, Make, Node, OpenFlags, SetAttr, SetTime, Timestamp};

pub async fn the_root_is_a_directory(fs: Fs) {
    let root = fs.attr(ROOT).await;
    assert_eq!((root.ino, root.kind, root.nlink), (ROOT, Kind::Directory, 2));
    refused(fs.getattr(stoa_vfs::Ino(u64::MAX - 7)).await, libc::ESTALE);
}

pub async fn a_new_inode_belongs_to_its_caller(fs: Fs) {
    let caller = Caller { uid: 4_000_000_000, gid: 77 };
    let make = Make { node: Node::Regular, mode: 0o6664, umask: 0o022 };
    let attr = fs.make(caller, ROOT, &name("a"), &make).await.unwrap().attr;
    assert_eq!((attr.uid, attr.gid, attr.mode), (4_000_000_000, 77, 0o6644));
    let again = fs.attr(attr.ino).await;
    assert_eq!((again.uid, again.gid, again.mode), (4_000_000_000, 77, 0o6644));
    let make = Make { node: Node::Directory, mode: 0o1777, umask: 0o077 };
    assert_eq!(fs.make(caller, ROOT, &name("b"), &make).await.unwrap().attr.mode, 0o1700);
}

pub async fn a_set_gid_directory_gives_its_group(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    fs.setattr(dir, &SetAttr { mode: Some(0o2775), gid: Some(55), ..SetAttr::default() }).await.unwrap();
    let file = fs.make(CALLER, dir, &name("file"), &plain(Node::Regular)).await.unwrap().attr;
    assert_eq!((file.uid, file.gid, file.mode), (CALLER.uid, 55, 0o644));
    let inner = fs.make(CALLER, dir, &name("inner"), &plain(Node::Directory)).await.unwrap().attr;
    assert_eq!((inner.gid, inner.mode), (55, 0o2755));
    let link = fs.symlink(dir, "link", "x").await;
    assert_eq!(fs.attr(link).await.gid, 55);
}

pub async fn directories_count_subdirectories(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    assert_eq!(fs.nlink(dir).await, 2);
    for child in ["a", "b", "c"] {
        fs.dir(dir, child).await;
    }
    fs.file(dir, "file").await;
    assert_eq!(fs.nlink(dir).await, 5);
    fs.rmdir(dir, &name("b")).await.unwrap();
    assert_eq!(fs.nlink(dir).await, 4);
    assert_eq!(fs.nlink(ROOT).await, 3);
}

pub async fn mode_and_owner_change(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    for mode in [0, 0o777, 0o4755, 0o2755, 0o1644, 0o7777] {
        assert_eq!(fs.chmod(ino, mode).await.mode, mode);
        assert_eq!(fs.attr(ino).await.mode, mode);
    }
    let set = SetAttr { uid: Some(1), gid: Some(u32::MAX - 1), ..SetAttr::default() };
    fs.setattr(ino, &set).await.unwrap();
    let attr = fs.attr(ino).await;
    assert_eq!((attr.uid, attr.gid, attr.mode), (1, u32::MAX - 1, 0o7777));
    assert_eq!(attr.kind, Kind::Regular);
}

pub async fn nothing_set_is_nothing_changed(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    let before = fs.attr(ino).await;
    crate::fs::tick().await;
    assert_eq!(fs.setattr(ino, &SetAttr::default()).await.unwrap(), before);
    assert_eq!(fs.attr(ino).await, before);
}

pub async fn all_or_none(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    let dir = fs.dir(ROOT, "dir").await;
    let set = SetAttr { mode: Some(0), uid: Some(9), size: Some(u64::MAX), ..SetAttr::default() };
    refused(fs.setattr(ino, &set).await, libc::EFBIG);
    let set = SetAttr { size: Some(0), ..set };
    refused(fs.setattr(dir, &set).await, libc::EISDIR);
    let (file, dir) = (fs.attr(ino).await, fs.attr(dir).await);
    assert_eq!((file.mode, file.uid, file.size), (0o644, CALLER.uid, 7));
    assert_eq!((dir.mode, dir.uid), (0o755, CALLER.uid));
}

pub async fn several_at_once(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", b"content").await;
    let time = Timestamp { secs: 5, nanos: 6 };
    let set = SetAttr {
        mode: Some(0o600),
        uid: Some(1),
        gid: Some(2),
        size: Some(3),
        atime: Some(SetTime::At(time)),
        mtime: Some(SetTime::At(time)),
        ..SetAttr::default()
    };
    let attr = fs.setattr(ino, &set).await.unwrap();
    assert_eq!(fs.attr(ino).await, attr);
    assert_eq!((attr.mode, attr.uid, attr.gid, attr.size), (0o600, 1, 2, 3));
    assert_eq!((attr.atime, attr.mtime), (time, time));
    assert_eq!(fs.content(ino).await, b"con");
}

pub async fn times_of_every_age(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let ages = [(0, 0), (-1, 999_999_999), (-2_208_988_800, 1), (1 << 31, 5), (1 << 33, 123_456_789), (1, 1)];
    for (secs, nanos) in ages {
        let time = Timestamp { secs, nanos };
        let set = SetAttr { mtime: Some(SetTime::At(time)), atime: Some(SetTime::At(time)), ..SetAttr::default() };
        fs.setattr(ino, &set).await.unwrap();
        let attr = fs.attr(ino).await;
        assert_eq!((attr.atime, attr.mtime), (time, time));
    }
}

pub async fn a_given_change_time_is_taken(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let time = Timestamp { secs: 1_000_000, nanos: 7 };
    fs.setattr(ino, &SetAttr { ctime: Some(time), mode: Some(0o600), ..SetAttr::default() }).await.unwrap();
    let attr = fs.attr(ino).await;
    assert_eq!((attr.ctime, attr.mode), (time, 0o600));
}

pub async fn privileges_are_cleared_when_asked(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let set = SetAttr { clear_privileges: true, ..SetAttr::default() };
    for (before, after) in [(0o6755, 0o755), (0o6745, 0o2745), (0o4644, 0o644), (0o1755, 0o1755)] {
        fs.chmod(ino, before).await;
        assert_eq!(fs.setattr(ino, &SetAttr { uid: Some(5), ..set.clone() }).await.unwrap().mode, after);
        assert_eq!(fs.attr(ino).await.mode, after);
    }
    fs.chmod(ino, 0o6755).await;
    assert_eq!(fs.setattr(ino, &SetAttr { uid: Some(6), ..SetAttr::default() }).await.unwrap().mode, 0o6755);
}

pub async fn writing_clears_privileges_when_asked(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    fs.chmod(ino, 0o6755).await;
    let handle = fs.open(ino, WRITE).await.unwrap();
    fs.write(ino, handle, 0, Bytes::from_static(b"a"), stoa_vfs::WriteFlags::default()).await.unwrap();
    assert_eq!(fs.attr(ino).await.mode, 0o6755);
    fs.write(ino, handle, 0, Bytes::from_static(b"a"), stoa_vfs::WriteFlags { clear_privileges: true, cached: false })
        .await
        .unwrap();
    assert_eq!(fs.attr(ino).await.mode, 0o755);
    fs.release(ino, handle).await;
    fs.chmod(ino, 0o6755).await;
    let handle = fs
        .open(ino, OpenFlags { write: true, truncate: true, clear_privileges: true, ..OpenFlags::default() })
        .await
        .unwrap();
    assert_eq!(fs.attr(ino).await.mode, 0o755);
    fs.release(ino, handle).await;
}

pub async fn capabilities_go_with_privileges(fs: Fs) {
    if !fs.can.xattrs {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    let value = Bytes::from_static(b"capability");
    fs.setxattr(ino, b"security.capability", value, stoa_vfs::XattrMode::Set, false).await.unwrap();
    fs.put(ino, 0, b"a").await;
    assert!(fs.getxattr(ino, b"security.capability").await.is_ok());
    fs.setattr(ino, &SetAttr { uid: Some(5), clear_privileges: true, ..SetAttr::default() }).await.unwrap();
    refused(fs.getxattr(ino, b"security.capability").await, libc::ENODATA);
}

pub async fn directories_keep_their_set_gid_bit(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    fs.chmod(dir, 0o2775).await;
    let set = SetAttr { gid: Some(5), clear_privileges: true, ..SetAttr::default() };
    assert_eq!(fs.setattr(dir, &set).await.unwrap().mode, 0o2775);
}
