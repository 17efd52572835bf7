//! FIFOs, sockets and devices.

use crate::fs::{CALLER, Fs, ROOT, name, plain, refused};
use stoa_vfs::{Kind, Node, OpenFlags, RenameMode};

const KINDS: [(Kind, u32); 4] =
    [(Kind::Fifo, 0), (Kind::Socket, 0), (Kind::CharDevice, 0x0501), (Kind::BlockDevice, 0xFFF0_00FF)];

pub async fn they_are_what_they_were_made(fs: Fs) {
    if !fs.can.special_files {
        return;
    }
    for (kind, rdev) in KINDS {
        let at = format!("{kind:?}");
        let ino = fs.node(ROOT, &at, Node::Special { kind, rdev }).await;
        let attr = fs.lookup(ROOT, &name(&at)).await.unwrap().attr;
        assert_eq!((attr.ino, attr.kind, attr.rdev, attr.size, attr.nlink), (ino, kind, rdev, 0, 1));
        assert_eq!(fs.list(ROOT).await[at.as_bytes()], (ino, kind));
    }
}

pub async fn they_move_and_go_like_files(fs: Fs) {
    if !fs.can.special_files {
        return;
    }
    for (kind, rdev) in KINDS {
        let ino = fs.node(ROOT, "a", Node::Special { kind, rdev }).await;
        fs.file(ROOT, "b").await;
        fs.rename(ROOT, &name("a"), ROOT, &name("b"), RenameMode::Replace).await.unwrap();
        assert_eq!(fs.find(ROOT, "b").await, Ok(ino));
        assert_eq!(fs.chmod(ino, 0o600).await.mode, 0o600);
        fs.unlink(ROOT, &name("b")).await.unwrap();
        fs.forget(ino, 2);
        refused(fs.getattr(ino).await, libc::ESTALE);
    }
}

pub async fn they_have_no_content(fs: Fs) {
    if !fs.can.special_files {
        return;
    }
    let fifo = fs.node(ROOT, "fifo", Node::Special { kind: Kind::Fifo, rdev: 0 }).await;
    assert!(fs.open(fifo, OpenFlags::default()).await.is_err());
}

pub async fn other_kinds_are_not_special(fs: Fs) {
    for kind in [Kind::Regular, Kind::Directory, Kind::Symlink] {
        let make = plain(Node::Special { kind, rdev: 0 });
        assert!(fs.make(CALLER, ROOT, &name("a"), &make).await.is_err());
    }
    assert!(fs.names(ROOT).await.is_empty());
}
