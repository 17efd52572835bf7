//! Names: links, renames, and names of all kinds.

use crate::mounted::{Mounted, c, check, errno};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::Path;

fn rename2(from: &Path, to: &Path, flags: u32) -> io::Result<i64> {
    let (from, to) = (c(from), c(to));
    check(unsafe { libc::renameat2(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), flags) })
}

#[test]
fn rename_replaces_keeps_or_exchanges() {
    let m = Mounted::new();
    let (a, b) = (m.path("a"), m.path("b"));
    fs::write(&a, "A").unwrap();
    fs::write(&b, "B").unwrap();
    assert_eq!(errno(rename2(&a, &b, libc::RENAME_NOREPLACE)), libc::EEXIST);
    rename2(&a, &b, libc::RENAME_EXCHANGE).unwrap();
    assert_eq!((fs::read(&a).unwrap(), fs::read(&b).unwrap()), (b"B".to_vec(), b"A".to_vec()));
    assert_eq!(errno(rename2(&a, &b, libc::RENAME_WHITEOUT)), libc::EINVAL);
    fs::rename(&a, &b).unwrap();
    assert_eq!(fs::read(&b).unwrap(), b"B");
    assert_eq!(errno(fs::metadata(&a)), libc::ENOENT);
    rename2(&b, &a, libc::RENAME_NOREPLACE).unwrap();
    assert_eq!(errno(rename2(&b, &a, libc::RENAME_EXCHANGE)), libc::ENOENT);
}

#[test]
fn a_directory_moves_with_what_is_in_it_but_not_into_itself() {
    let m = Mounted::new();
    fs::create_dir_all(m.path("d/e/f")).unwrap();
    fs::create_dir(m.path("g")).unwrap();
    fs::write(m.path("d/e/f/file"), "x").unwrap();
    assert_eq!(errno(fs::rename(m.path("d"), m.path("d/e/d"))), libc::EINVAL);
    assert_eq!(errno(fs::rename(m.path("g"), m.path("d"))), libc::ENOTEMPTY);
    fs::rename(m.path("d/e"), m.path("g/e")).unwrap();
    assert_eq!(fs::read(m.path("g/e/f/file")).unwrap(), b"x");
    assert_eq!(fs::metadata(m.path("g")).unwrap().nlink(), 3);
    assert_eq!(fs::metadata(m.path("d")).unwrap().nlink(), 2);
    assert_eq!(fs::canonicalize(m.path("g/e/..")).unwrap(), fs::canonicalize(m.path("g")).unwrap());
}

#[test]
fn hard_links_are_one_file() {
    let m = Mounted::new();
    fs::write(m.path("one"), "1").unwrap();
    fs::hard_link(m.path("one"), m.path("two")).unwrap();
    let (one, two) = (fs::metadata(m.path("one")).unwrap(), fs::metadata(m.path("two")).unwrap());
    assert_eq!((one.ino(), one.nlink()), (two.ino(), 2));
    fs::write(m.path("two"), "changed").unwrap();
    assert_eq!(fs::read(m.path("one")).unwrap(), b"changed");
    fs::remove_file(m.path("one")).unwrap();
    assert_eq!(fs::metadata(m.path("two")).unwrap().nlink(), 1);
    assert_eq!(errno(fs::hard_link(m.path("two"), m.path("two"))), libc::EEXIST);
    fs::create_dir(m.path("dir")).unwrap();
    assert_eq!(errno(fs::hard_link(m.path("dir"), m.path("dir2"))), libc::EPERM);
}

#[test]
fn symbolic_links_say_what_they_were_given() {
    let m = Mounted::new();
    let long = "x/".repeat(2000);
    for (name, target) in [("a", "target"), ("b", "../up"), ("c", long.as_str())] {
        symlink(target, m.path(name)).unwrap();
        assert_eq!(fs::read_link(m.path(name)).unwrap(), Path::new(target));
        assert_eq!(fs::symlink_metadata(m.path(name)).unwrap().len(), target.len() as u64);
    }
    fs::write(m.path("target"), "found").unwrap();
    assert_eq!(fs::read(m.path("a")).unwrap(), b"found");
}

#[test]
fn names_are_bytes_up_to_255_of_them() {
    let m = Mounted::new();
    let long = "n".repeat(255);
    let names: [&[u8]; 5] = [long.as_bytes(), b"\xff\xfe\x80", b" ", b"new\nline", "\u{1f3db}".as_bytes()];
    for name in names {
        let path = m.root().join(OsStr::from_bytes(name));
        fs::write(&path, name).unwrap();
        assert_eq!(fs::read(&path).unwrap(), name);
    }
    let mut found: Vec<_> = fs::read_dir(m.root()).unwrap().map(|e| e.unwrap().file_name()).collect();
    let mut want: Vec<_> = names.iter().map(|name| OsStr::from_bytes(name).to_owned()).collect();
    found.sort();
    want.sort();
    assert_eq!(found, want);
    assert_eq!(errno(fs::write(m.path(&"n".repeat(256)), "")), libc::ENAMETOOLONG);
}

#[test]
fn special_files_are_what_they_were_made() {
    let m = Mounted::new();
    let make = |name: &str, mode, dev| check(unsafe { libc::mknod(c(m.path(name)).as_ptr(), mode, dev) }).unwrap();
    make("fifo", libc::S_IFIFO | 0o600, 0);
    make("socket", libc::S_IFSOCK | 0o600, 0);
    make("char", libc::S_IFCHR | 0o600, libc::makedev(1, 3));
    make("block", libc::S_IFBLK | 0o600, libc::makedev(259, 0x12345));
    make("plain", libc::S_IFREG | 0o600, 0);
    let stat = |name: &str| fs::symlink_metadata(m.path(name)).unwrap();
    assert!(stat("fifo").file_type().is_fifo());
    assert!(stat("socket").file_type().is_socket());
    assert!(stat("plain").file_type().is_file());
    assert_eq!((stat("char").file_type().is_char_device(), stat("char").rdev()), (true, libc::makedev(1, 3)));
    assert_eq!(
        (stat("block").file_type().is_block_device(), stat("block").rdev()),
        (true, libc::makedev(259, 0x12345))
    );
    // The null device, by the name it was given here.
    fs::write(m.path("char"), "gone").unwrap();
    assert_eq!(fs::read(m.path("char")).unwrap(), b"");
}

#[test]
fn removing_asks_for_the_right_kind() {
    let m = Mounted::new();
    fs::create_dir(m.path("dir")).unwrap();
    fs::write(m.path("dir/file"), "").unwrap();
    assert_eq!(errno(fs::remove_dir(m.path("dir"))), libc::ENOTEMPTY);
    assert_eq!(errno(fs::remove_dir(m.path("dir/file"))), libc::ENOTDIR);
    assert_eq!(errno(fs::remove_file(m.path("dir"))), libc::EISDIR);
    fs::remove_dir_all(m.path("dir")).unwrap();
    assert_eq!(errno(fs::metadata(m.path("dir"))), libc::ENOENT);
}
