//! Which operation stamps which time of which inode.

use crate::fs::{CALLER, Fs, ROOT, WRITE, name, plain, tick};
use bytes::Bytes;
use stoa_vfs::{Allocate, Attr, Ino, Node, OpenFlags, RenameMode, SetAttr, SetTime, Timestamp};

/// What became of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    Kept,
    Stamped,
}
use Time::{Kept, Stamped};

fn compare(before: Timestamp, after: Timestamp) -> Time {
    assert!(after >= before, "a time went back from {before:?} to {after:?}");
    if after == before { Kept } else { Stamped }
}

/// What became of mtime and ctime.
fn changed(before: &Attr, after: &Attr) -> (Time, Time) {
    assert_eq!(before.btime, after.btime, "the time of creation changed");
    (compare(before.mtime, after.mtime), compare(before.ctime, after.ctime))
}

/// Runs `step` and asserts what became of the (mtime, ctime) of each inode.
async fn stamps(fs: &Fs, expected: &[(Ino, (Time, Time))], step: impl Future<Output = ()>) {
    let mut before = Vec::new();
    for (ino, _) in expected {
        before.push(fs.attr(*ino).await);
    }
    tick().await;
    step.await;
    for ((ino, times), before) in expected.iter().zip(&before) {
        assert_eq!(changed(before, &fs.attr(*ino).await), *times, "(mtime, ctime) of a {:?}", before.kind);
    }
}

const NOTHING: (Time, Time) = (Kept, Kept);
const STATUS: (Time, Time) = (Kept, Stamped);
const CONTENT: (Time, Time) = (Stamped, Stamped);

pub async fn a_new_inode_is_made_now(fs: Fs) {
    let earliest = Timestamp::now();
    let attr = fs.make(CALLER, ROOT, &name("a"), &plain(Node::Regular)).await.unwrap().attr;
    let latest = Timestamp::now();
    for time in [attr.atime, attr.mtime, attr.ctime, attr.btime] {
        assert!((earliest..=latest).contains(&time), "{time:?} is not between {earliest:?} and {latest:?}");
    }
}

pub async fn making_stamps_the_directory(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    stamps(&fs, &[(dir, CONTENT), (ROOT, NOTHING)], async {
        fs.file(dir, "file").await;
    })
    .await;
    stamps(&fs, &[(dir, CONTENT), (ROOT, NOTHING)], async {
        fs.dir(dir, "dir").await;
    })
    .await;
}

pub async fn removing_stamps_directory_and_inode(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file(dir, "file").await;
    let inner = fs.dir(dir, "inner").await;
    stamps(&fs, &[(dir, CONTENT), (file, STATUS)], async {
        fs.unlink(dir, &name("file")).await.unwrap();
    })
    .await;
    stamps(&fs, &[(dir, CONTENT), (inner, STATUS)], async {
        fs.rmdir(dir, &name("inner")).await.unwrap();
    })
    .await;
}

pub async fn linking_stamps_directory_and_inode(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file(ROOT, "file").await;
    stamps(&fs, &[(dir, CONTENT), (file, STATUS), (ROOT, NOTHING)], async {
        fs.link(file, dir, &name("link")).await.unwrap();
    })
    .await;
}

pub async fn renaming_stamps_directories_and_inode(fs: Fs) {
    let (from, to) = (fs.dir(ROOT, "from").await, fs.dir(ROOT, "to").await);
    let file = fs.file(from, "file").await;
    let replaced = fs.file(to, "file").await;
    stamps(&fs, &[(from, CONTENT), (to, CONTENT), (file, STATUS), (replaced, STATUS)], async {
        fs.rename(from, &name("file"), to, &name("file"), RenameMode::Replace).await.unwrap();
    })
    .await;
}

pub async fn exchanging_stamps_all(fs: Fs) {
    if !fs.can.exchange {
        return;
    }
    let (a, b) = (fs.dir(ROOT, "a").await, fs.dir(ROOT, "b").await);
    let (x, y) = (fs.file(a, "x").await, fs.file(b, "y").await);
    stamps(&fs, &[(a, CONTENT), (b, CONTENT), (x, STATUS), (y, STATUS)], async {
        fs.rename(a, &name("x"), b, &name("y"), RenameMode::Exchange).await.unwrap();
    })
    .await;
}

pub async fn refused_operations_stamp_nothing(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file(dir, "file").await;
    stamps(&fs, &[(dir, NOTHING), (file, NOTHING), (ROOT, NOTHING)], async {
        assert!(fs.rmdir(ROOT, &name("dir")).await.is_err());
        assert!(fs.unlink(dir, &name("missing")).await.is_err());
        assert!(fs.make(CALLER, dir, &name("file"), &plain(Node::Regular)).await.is_err());
        assert!(fs.rename(dir, &name("file"), dir, &name("file"), RenameMode::NoReplace).await.is_err());
    })
    .await;
}

pub async fn looking_stamps_nothing_but_access(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let file = fs.file_with(dir, "file", b"content").await;
    let before = fs.attr(file).await;
    stamps(&fs, &[(dir, NOTHING), (file, NOTHING)], async {
        fs.find(dir, "file").await.unwrap();
        fs.names(dir).await;
        fs.get(file, 0, 100).await;
        fs.fsync(file).await.unwrap();
    })
    .await;
    assert!(fs.attr(file).await.atime >= before.atime);
}

pub async fn writing_stamps_the_content(fs: Fs) {
    let file = fs.file_with(ROOT, "file", b"content").await;
    let handle = fs.open(file, WRITE).await.unwrap();
    stamps(&fs, &[(file, CONTENT), (ROOT, NOTHING)], async {
        fs.write(file, handle, 0, Bytes::from_static(b"C"), stoa_vfs::WriteFlags::default()).await.unwrap();
    })
    .await;
    stamps(&fs, &[(file, NOTHING)], async {
        fs.flush(file, handle).await.unwrap();
        fs.fsync(file).await.unwrap();
        fs.release(file, handle).await;
    })
    .await;
}

pub async fn sizing_stamps_the_content(fs: Fs) {
    let file = fs.file_with(ROOT, "file", b"content").await;
    for size in [3, 100] {
        stamps(&fs, &[(file, CONTENT)], fs.set_size(file, size)).await;
    }
    stamps(&fs, &[(file, CONTENT)], async {
        fs.fallocate(file, 0, 2, Allocate::PunchHole).await.unwrap();
    })
    .await;
    stamps(&fs, &[(file, CONTENT)], async {
        let truncate = OpenFlags { write: true, truncate: true, ..OpenFlags::default() };
        let handle = fs.open(file, truncate).await.unwrap();
        fs.release(file, handle).await;
    })
    .await;
}

pub async fn changing_attributes_stamps_the_status(fs: Fs) {
    let file = fs.file(ROOT, "file").await;
    stamps(&fs, &[(file, STATUS), (ROOT, NOTHING)], async {
        fs.chmod(file, 0o600).await;
    })
    .await;
    stamps(&fs, &[(file, STATUS)], async {
        fs.setattr(file, &SetAttr { uid: Some(3), ..SetAttr::default() }).await.unwrap();
    })
    .await;
    stamps(&fs, &[(file, STATUS)], async {
        fs.setattr(file, &SetAttr { atime: Some(SetTime::Now), ..SetAttr::default() }).await.unwrap();
    })
    .await;
    stamps(&fs, &[(file, CONTENT)], async {
        fs.setattr(file, &SetAttr { mtime: Some(SetTime::Now), ..SetAttr::default() }).await.unwrap();
    })
    .await;
    if fs.can.xattrs {
        stamps(&fs, &[(file, STATUS)], async {
            fs.setxattr(file, b"user.a", Bytes::from_static(b"1"), stoa_vfs::XattrMode::Set, false).await.unwrap();
        })
        .await;
        stamps(&fs, &[(file, STATUS)], async {
            fs.removexattr(file, b"user.a").await.unwrap();
        })
        .await;
    }
}

pub async fn copying_stamps_the_target(fs: Fs) {
    let source = fs.file_with(ROOT, "source", b"content").await;
    let target = fs.file(ROOT, "target").await;
    stamps(&fs, &[(source, NOTHING), (target, CONTENT)], async {
        fs.copy_range(source, 0, target, 0, 7).await.unwrap();
    })
    .await;
}
