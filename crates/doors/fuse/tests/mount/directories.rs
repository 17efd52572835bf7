//! Listings.

use crate::mounted::{Mounted, c, drop_caches, keep_caches};
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{self, File};
use std::path::Path;

/// A directory stream of the C library, which alone can tell and seek.
struct Stream(*mut libc::DIR);

impl Stream {
    fn open(path: &Path) -> Self {
        let dir = unsafe { libc::opendir(c(path).as_ptr()) };
        assert!(!dir.is_null());
        Self(dir)
    }

    fn next(&mut self) -> Option<(String, u64)> {
        let entry = unsafe { libc::readdir(self.0).as_ref() }?;
        let name = unsafe { CStr::from_ptr(entry.d_name.as_ptr()) };
        Some((name.to_str().unwrap().to_owned(), entry.d_ino))
    }

    fn tell(&self) -> i64 {
        unsafe { libc::telldir(self.0) }
    }

    fn seek(&mut self, to: i64) {
        unsafe { libc::seekdir(self.0, to) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        unsafe { libc::closedir(self.0) };
    }
}

#[test]
fn ten_thousand_entries_are_listed_once_each_and_can_be_sought() {
    let m = Mounted::new();
    let dir = m.path("many");
    fs::create_dir(&dir).unwrap();
    let wanted: BTreeSet<String> = (0..10_000).map(|n| format!("entry-{n}-{}", "x".repeat(n % 200))).collect();
    for name in &wanted {
        File::create_new(dir.join(name)).unwrap();
    }
    // Twice: from the store, and then from what the kernel cached.
    for round in 0..2 {
        let mut stream = Stream::open(&dir);
        let (mut seen, mut places) = (Vec::new(), Vec::new());
        loop {
            let place = stream.tell();
            let Some((name, _)) = stream.next() else { break };
            places.push((place, name.clone()));
            seen.push(name);
        }
        assert_eq!(seen.len(), 10_002, "round {round}");
        let names: BTreeSet<String> = seen.into_iter().filter(|name| name != "." && name != "..").collect();
        assert!(names == wanted, "round {round}");
        for (place, name) in places.iter().rev().step_by(997) {
            stream.seek(*place);
            assert_eq!(stream.next().unwrap().0, *name, "round {round}");
        }
    }
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(fs::read_dir(m.root()).unwrap().count(), 0);
}

#[test]
fn a_listing_begins_with_the_directory_and_its_parent() {
    use std::os::unix::fs::MetadataExt;
    let m = Mounted::new();
    fs::create_dir_all(m.path("up/down")).unwrap();
    let ino = |path: &str| fs::metadata(m.path(path)).unwrap().ino();
    let mut stream = Stream::open(&m.path("up/down"));
    assert_eq!(stream.next().unwrap(), (".".to_owned(), ino("up/down")));
    assert_eq!(stream.next().unwrap(), ("..".to_owned(), ino("up")));
    assert_eq!(stream.next(), None);
}

#[test]
fn a_listing_with_attributes_saves_the_lookups() {
    let m = Mounted::new();
    for n in 0..200 {
        fs::write(m.path(&format!("f{n}")), vec![0; n]).unwrap();
    }
    drop_caches();
    let _kept = keep_caches();
    let lookups = m.count("lookup");
    let mut total = 0;
    for entry in fs::read_dir(m.root()).unwrap() {
        total += entry.unwrap().metadata().unwrap().len();
    }
    assert_eq!(total, (0..200).sum::<u64>());
    assert!(m.count("readdirplus") >= 1);
    assert!(m.count("lookup") - lookups < 20, "{} lookups", m.count("lookup") - lookups);
}

#[test]
fn what_is_made_and_removed_shows_in_the_next_listing() {
    let m = Mounted::new();
    let list = || {
        let mut names: Vec<_> =
            fs::read_dir(m.root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert!(list().is_empty());
    for name in ["a", "b", "c"] {
        fs::write(m.path(name), "").unwrap();
    }
    assert_eq!(list(), ["a", "b", "c"]);
    fs::rename(m.path("a"), m.path("d")).unwrap();
    fs::remove_file(m.path("b")).unwrap();
    assert_eq!(list(), ["c", "d"]);
}

#[test]
fn directories_can_be_synced() {
    let m = Mounted::new();
    fs::write(m.path("file"), "").unwrap();
    File::open(m.root()).unwrap().sync_all().unwrap();
    assert_eq!(m.count("fsyncdir"), 1);
}
