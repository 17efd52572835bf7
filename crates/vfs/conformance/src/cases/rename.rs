//! Rename, in every mode, over every kind of target.

use crate::fs::{Fs, ROOT, name, refused};
use stoa_vfs::RenameMode::{Exchange, NoReplace, Replace};
use stoa_vfs::{Ino, RenameMode, Result};

async fn mv(fs: &Fs, from: &str, to: &str, mode: RenameMode) -> Result<()> {
    fs.rename(ROOT, &name(from), ROOT, &name(to), mode).await
}

/// A file, a symlink, an empty and a full directory under fresh names with this prefix.
async fn zoo(fs: &Fs, prefix: &str) -> [(String, Ino); 4] {
    let at = |kind: &str| format!("{prefix}-{kind}");
    let full = fs.dir(ROOT, at("full")).await;
    fs.file(full, "inside").await;
    [
        (at("file"), fs.file_with(ROOT, at("file"), prefix.as_bytes()).await),
        (at("link"), fs.symlink(ROOT, at("link"), "target").await),
        (at("empty"), fs.dir(ROOT, at("empty")).await),
        (at("full"), full),
    ]
}

pub async fn a_name_moves(fs: Fs) {
    for (old, ino) in zoo(&fs, "a").await {
        let new = format!("new-{old}");
        mv(&fs, &old, &new, Replace).await.unwrap();
        refused(fs.find(ROOT, &old).await, libc::ENOENT);
        assert_eq!(fs.find(ROOT, &new).await, Ok(ino));
    }
    assert_eq!(fs.names(ROOT).await, ["new-a-empty", "new-a-file", "new-a-full", "new-a-link"]);
    fs.expect(fs.find(ROOT, "new-a-file").await.unwrap(), b"a").await;
}

pub async fn every_pair_of_kinds_replaced(fs: Fs) {
    // What rename(2) says to: file, link, empty, full.
    let expected = [
        [0, 0, libc::EISDIR, libc::EISDIR],
        [0, 0, libc::EISDIR, libc::EISDIR],
        [libc::ENOTDIR, libc::ENOTDIR, 0, libc::ENOTEMPTY],
        [libc::ENOTDIR, libc::ENOTDIR, 0, libc::ENOTEMPTY],
    ];
    for (row, errnos) in expected.iter().enumerate() {
        for (column, errno) in errnos.iter().enumerate() {
            let (from, source) = zoo(&fs, &format!("s{row}{column}")).await[row].clone();
            let (to, target) = zoo(&fs, &format!("t{row}{column}")).await[column].clone();
            let result = mv(&fs, &from, &to, Replace).await;
            if *errno == 0 {
                assert_eq!(result, Ok(()), "{from} over {to}");
                refused(fs.find(ROOT, &from).await, libc::ENOENT);
                assert_eq!(fs.find(ROOT, &to).await, Ok(source));
                assert_eq!(fs.nlink(target).await, 0, "{from} over {to}");
            } else {
                refused(result, *errno);
                assert_eq!(fs.find(ROOT, &from).await, Ok(source));
                assert_eq!(fs.find(ROOT, &to).await, Ok(target));
            }
        }
    }
}

pub async fn every_pair_of_kinds_not_replaced(fs: Fs) {
    let sources = zoo(&fs, "s").await;
    let targets = zoo(&fs, "t").await;
    for (from, source) in &sources {
        for (to, target) in &targets {
            refused(mv(&fs, from, to, NoReplace).await, libc::EEXIST);
            assert_eq!(fs.find(ROOT, from).await, Ok(*source));
            assert_eq!(fs.find(ROOT, to).await, Ok(*target));
        }
        refused(mv(&fs, from, from, NoReplace).await, libc::EEXIST);
    }
    mv(&fs, "s-file", "free", NoReplace).await.unwrap();
    assert_eq!(fs.find(ROOT, "free").await, Ok(sources[0].1));
}

pub async fn every_pair_of_kinds_exchanged(fs: Fs) {
    if !fs.can.exchange {
        return;
    }
    for row in 0..4 {
        for column in 0..4 {
            let (from, source) = zoo(&fs, &format!("s{row}{column}")).await[row].clone();
            let (to, target) = zoo(&fs, &format!("t{row}{column}")).await[column].clone();
            mv(&fs, &from, &to, Exchange).await.unwrap();
            assert_eq!(fs.find(ROOT, &from).await, Ok(target));
            assert_eq!(fs.find(ROOT, &to).await, Ok(source));
        }
    }
}

pub async fn exchange_needs_both(fs: Fs) {
    if !fs.can.exchange {
        return;
    }
    let a = fs.file(ROOT, "a").await;
    refused(mv(&fs, "a", "b", Exchange).await, libc::ENOENT);
    refused(mv(&fs, "b", "a", Exchange).await, libc::ENOENT);
    assert_eq!(mv(&fs, "a", "a", Exchange).await, Ok(()));
    assert_eq!(fs.find(ROOT, "a").await, Ok(a));
}

pub async fn exchange_across_directories_moves_parents(fs: Fs) {
    if !fs.can.exchange {
        return;
    }
    let (a, b) = (fs.dir(ROOT, "a").await, fs.dir(ROOT, "b").await);
    let dir = fs.dir(a, "x").await;
    let file = fs.file(b, "x").await;
    fs.rename(a, &name("x"), b, &name("x"), Exchange).await.unwrap();
    assert_eq!((fs.find(a, "x").await, fs.find(b, "x").await), (Ok(file), Ok(dir)));
    assert_eq!(fs.parent(dir).await, Ok(b));
    assert_eq!((fs.nlink(a).await, fs.nlink(b).await), (2, 3));
}

pub async fn a_missing_source_is_not_found(fs: Fs) {
    let kept = fs.file(ROOT, "kept").await;
    refused(mv(&fs, "missing", "kept", Replace).await, libc::ENOENT);
    refused(mv(&fs, "missing", "free", Replace).await, libc::ENOENT);
    assert_eq!(fs.find(ROOT, "kept").await, Ok(kept));
}

pub async fn onto_itself_changes_nothing(fs: Fs) {
    for (at, ino) in zoo(&fs, "a").await {
        mv(&fs, &at, &at, Replace).await.unwrap();
        assert_eq!(fs.find(ROOT, &at).await, Ok(ino));
    }
}

pub async fn two_names_of_one_file_both_stay(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let ino = fs.file(ROOT, "a").await;
    fs.link(ino, ROOT, &name("b")).await.unwrap();
    mv(&fs, "a", "b", Replace).await.unwrap();
    assert_eq!(fs.names(ROOT).await, ["a", "b"]);
    assert_eq!(fs.nlink(ino).await, 2);
    refused(mv(&fs, "a", "b", NoReplace).await, libc::EEXIST);
}

pub async fn a_linked_file_loses_only_the_replaced_name(fs: Fs) {
    if !fs.can.hard_links {
        return;
    }
    let old = fs.file_with(ROOT, "old", b"old").await;
    fs.link(old, ROOT, &name("other")).await.unwrap();
    fs.file(ROOT, "new").await;
    mv(&fs, "new", "old", Replace).await.unwrap();
    assert_eq!(fs.nlink(old).await, 1);
    assert_eq!(fs.find(ROOT, "other").await, Ok(old));
    fs.expect(old, b"old").await;
}

pub async fn a_directory_never_moves_into_itself(fs: Fs) {
    let a = fs.dir(ROOT, "a").await;
    let b = fs.dir(a, "b").await;
    let c = fs.dir(b, "c").await;
    for inside in [a, b, c] {
        refused(fs.rename(ROOT, &name("a"), inside, &name("new"), Replace).await, libc::EINVAL);
        refused(fs.rename(ROOT, &name("a"), inside, &name("new"), NoReplace).await, libc::EINVAL);
    }
    if fs.can.exchange {
        refused(fs.rename(ROOT, &name("a"), b, &name("c"), Exchange).await, libc::EINVAL);
        refused(fs.rename(b, &name("c"), ROOT, &name("a"), Exchange).await, libc::EINVAL);
    }
    assert_eq!(fs.find(ROOT, "a").await, Ok(a));
    assert_eq!(fs.find(a, "b").await, Ok(b));
    assert_eq!(fs.names(b).await, ["c"]);
    assert!(fs.names(c).await.is_empty());
}

pub async fn a_directory_never_replaces_one_it_lies_in(fs: Fs) {
    let a = fs.dir(ROOT, "a").await;
    let b = fs.dir(a, "b").await;
    let c = fs.dir(b, "c").await;
    refused(fs.rename(b, &name("c"), ROOT, &name("a"), Replace).await, libc::ENOTEMPTY);
    refused(fs.rename(b, &name("c"), a, &name("b"), Replace).await, libc::ENOTEMPTY);
    assert_eq!(fs.find(b, "c").await, Ok(c));
}

pub async fn directories_move_with_their_parent_and_links(fs: Fs) {
    let (a, b) = (fs.dir(ROOT, "a").await, fs.dir(ROOT, "b").await);
    let dir = fs.dir(a, "dir").await;
    let file = fs.file(dir, "file").await;
    assert_eq!((fs.nlink(a).await, fs.nlink(b).await), (3, 2));
    fs.rename(a, &name("dir"), b, &name("moved"), Replace).await.unwrap();
    assert_eq!((fs.nlink(a).await, fs.nlink(b).await), (2, 3));
    assert_eq!(fs.parent(dir).await, Ok(b));
    assert_eq!(fs.find(dir, "file").await, Ok(file));
    let empty = fs.dir(a, "empty").await;
    fs.rename(b, &name("moved"), a, &name("empty"), Replace).await.unwrap();
    assert_eq!((fs.nlink(a).await, fs.nlink(b).await), (3, 2));
    assert_eq!(fs.nlink(empty).await, 0);
}

pub async fn a_removed_directory_takes_nothing(fs: Fs) {
    let gone = fs.dir(ROOT, "gone").await;
    let file = fs.file(ROOT, "file").await;
    let dir = fs.dir(ROOT, "dir").await;
    fs.rmdir(ROOT, &name("gone")).await.unwrap();
    for source in ["file", "dir"] {
        refused(fs.rename(ROOT, &name(source), gone, &name("x"), Replace).await, libc::ENOENT);
    }
    assert_eq!(fs.find(ROOT, "file").await, Ok(file));
    assert_eq!(fs.find(ROOT, "dir").await, Ok(dir));
}

pub async fn only_directories_take_names(fs: Fs) {
    fs.file(ROOT, "a").await;
    let file = fs.file(ROOT, "file").await;
    refused(fs.rename(ROOT, &name("a"), file, &name("x"), Replace).await, libc::ENOTDIR);
    refused(fs.rename(file, &name("x"), ROOT, &name("y"), Replace).await, libc::ENOTDIR);
    assert_eq!(fs.names(ROOT).await, ["a", "file"]);
}

pub async fn write_new_then_replace(fs: Fs) {
    // How editors and package managers save: again and again, and each time the whole new content is there.
    fs.file_with(ROOT, "saved", b"0").await;
    for version in 1..50_u32 {
        let content = version.to_string().repeat(1000);
        fs.file_with(ROOT, "saved.tmp", content.as_bytes()).await;
        mv(&fs, "saved.tmp", "saved", Replace).await.unwrap();
        fs.expect(fs.find(ROOT, "saved").await.unwrap(), content.as_bytes()).await;
        assert_eq!(fs.names(ROOT).await, ["saved"]);
    }
}
