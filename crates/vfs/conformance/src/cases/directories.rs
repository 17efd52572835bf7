//! Listing directories: pages, cookies, changes in between.

use crate::fs::{Fs, ROOT, name, refused};
use std::collections::BTreeSet;
use stoa_vfs::{Cookie, DirEntry, Ino, Kind, RenameMode};

async fn fill(fs: &Fs, dir: Ino, prefix: &str, count: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in 0..count {
        let name = format!("{prefix}{file}");
        fs.file(dir, &name).await;
        names.insert(name);
    }
    names
}

fn text(entry: &DirEntry) -> String {
    String::from_utf8(entry.name.as_bytes().to_vec()).unwrap()
}

/// Asserts the order and range of cookies.
fn in_order(entries: &[DirEntry]) {
    assert!(entries.windows(2).all(|pair| pair[0].cookie < pair[1].cookie), "cookies out of order");
    assert!(entries.iter().all(|entry| (3..=i64::MAX as u64).contains(&entry.cookie.0)), "cookies out of range");
}

pub async fn an_empty_directory_has_no_entries(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let page = fs.readdir(dir, Cookie::START, 10, true).await.unwrap();
    assert!(page.entries.is_empty() && page.end);
}

pub async fn only_directories_are_listed(fs: Fs) {
    let file = fs.file(ROOT, "file").await;
    refused(fs.readdir(file, Cookie::START, 10, false).await, libc::ENOTDIR);
}

pub async fn pages_of_any_size(fs: Fs) {
    let names = fill(&fs, ROOT, "file-", 150).await;
    let all = fs.scan(ROOT, 1_000).await;
    in_order(&all);
    assert_eq!(all.iter().map(text).collect::<BTreeSet<_>>(), names);
    for size in [1, 2, 3, 7, 64, 149, 150, 151] {
        assert_eq!(fs.scan(ROOT, size).await, all, "pages of {size}");
    }
}

pub async fn every_cookie_resumes(fs: Fs) {
    fill(&fs, ROOT, "file-", 60).await;
    let all = fs.scan(ROOT, 100).await;
    for (at, entry) in all.iter().enumerate() {
        let page = fs.readdir(ROOT, entry.cookie, 100, false).await.unwrap();
        assert_eq!(page.entries, all[at + 1..]);
        assert!(page.end);
    }
}

pub async fn entries_carry_kind_inode_and_attributes(fs: Fs) {
    fs.file_with(ROOT, "file", b"content").await;
    fs.dir(ROOT, "dir").await;
    fs.symlink(ROOT, "link", "target").await;
    let page = fs.readdir(ROOT, Cookie::START, 10, true).await.unwrap();
    assert_eq!(page.entries.len(), 3);
    for entry in page.entries {
        let attr = fs.lookup(ROOT, &entry.name).await.unwrap().attr;
        assert_eq!((entry.ino, entry.kind), (attr.ino, attr.kind));
        assert_eq!(entry.entry.unwrap().attr, attr);
    }
    let page = fs.readdir(ROOT, Cookie::START, 10, false).await.unwrap();
    assert!(page.entries.iter().all(|entry| entry.entry.is_none()));
}

pub async fn twenty_thousand_entries(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    let names = fill(&fs, dir, "an-entry-of-a-large-directory-", 20_000).await;
    let listed = fs.scan(dir, 333).await;
    in_order(&listed);
    assert_eq!(listed.len(), 20_000);
    assert_eq!(listed.iter().map(text).collect::<BTreeSet<_>>(), names);
    for name in names.iter().step_by(997) {
        assert!(fs.find(dir, name).await.is_ok());
    }
}

pub async fn what_stays_is_seen_once_while_others_come_and_go(fs: Fs) {
    for page_size in [1, 5, 17] {
        let dir = fs.dir(ROOT, format!("dir-{page_size}")).await;
        let staying = fill(&fs, dir, "stays-", 80).await;
        fill(&fs, dir, "goes-", 80).await;
        let mut seen = Vec::new();
        let mut after = Cookie::START;
        for step in 0..10_000_u32 {
            let page = fs.readdir(dir, after, page_size, false).await.unwrap();
            seen.extend(page.entries.iter().map(text));
            after = page.entries.last().map_or(after, |entry| entry.cookie);
            if page.end {
                break;
            }
            if step < 80 {
                fs.unlink(dir, &name(format!("goes-{step}"))).await.unwrap();
                fs.file(dir, format!("comes-{step}")).await;
            }
        }
        for name in staying {
            let times = seen.iter().filter(|seen| **seen == name).count();
            assert_eq!(times, 1, "{name} was seen {times} times by pages of {page_size}");
        }
    }
}

pub async fn removing_while_listing_removes_all(fs: Fs) {
    // How `rm -r` works: list a page, remove it, go on after a cookie whose entry is gone.
    for page_size in [1, 10, 100] {
        let dir = fs.dir(ROOT, "dir").await;
        fill(&fs, dir, "file-", 250).await;
        let mut after = Cookie::START;
        loop {
            let page = fs.readdir(dir, after, page_size, false).await.unwrap();
            for entry in &page.entries {
                fs.unlink(dir, &entry.name).await.unwrap();
                after = entry.cookie;
            }
            if page.end {
                break;
            }
        }
        fs.rmdir(ROOT, &name("dir")).await.unwrap();
    }
}

pub async fn renaming_while_listing_keeps_the_others(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    fill(&fs, dir, "file-", 100).await;
    let first = fs.readdir(dir, Cookie::START, 50, false).await.unwrap();
    for entry in &first.entries[..25] {
        let new = name(format!("renamed-{}", text(entry)));
        fs.rename(dir, &entry.name, dir, &new, RenameMode::Replace).await.unwrap();
    }
    let rest = fs.readdir(dir, first.entries[49].cookie, 1_000, false).await.unwrap();
    assert!(rest.end);
    let untouched: BTreeSet<_> = first.entries[25..].iter().chain(&rest.entries).map(text).collect();
    let kept = untouched.iter().filter(|name| !name.starts_with("renamed-")).count();
    assert_eq!(kept, 75);
}

pub async fn a_replaced_entry_is_listed_once(fs: Fs) {
    fill(&fs, ROOT, "file-", 20).await;
    let new = fs.file(ROOT, "new").await;
    fs.rename(ROOT, &name("new"), ROOT, &name("file-7"), RenameMode::Replace).await.unwrap();
    let list = fs.list(ROOT).await;
    assert_eq!(list.len(), 20);
    assert_eq!(list[b"file-7".as_slice()], (new, Kind::Regular));
}
