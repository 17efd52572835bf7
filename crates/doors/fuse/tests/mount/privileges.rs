//! Set-uid and set-gid of files whose content or owner changes.

use crate::mounted::{Mounted, as_user, check, on_thread_of_user};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::Path;

/// A file of user 1000 that anybody may write, with set-uid and set-gid.
fn privileged(m: &Mounted, name: &str) -> std::path::PathBuf {
    let path = m.path(name);
    fs::write(&path, "program").unwrap();
    chown(&path, Some(1000), Some(1000)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o6777)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o6777);
    path
}

#[test]
fn set_uid_is_cleared_by_a_write_of_another() {
    let m = Mounted::new();
    for (name, command) in [
        ("written", "echo x >> written"),
        ("overwritten", "echo x > overwritten"),
        ("truncated", "truncate -s 3 truncated"),
        ("group", "chgrp 1000 group"),
    ] {
        let path = privileged(&m, name);
        assert!(as_user(command, m.root()).status.success(), "{command}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o777, "{command}");
    }
}

#[test]
fn set_uid_is_kept_by_a_write_of_root_but_not_by_a_change_of_owner() {
    let m = Mounted::new();
    let path = privileged(&m, "kept");
    fs::write(&path, "root may").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o6777);
    chown(&path, Some(1), None).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o777);
    // A directory keeps it.
    fs::create_dir(m.path("dir")).unwrap();
    fs::set_permissions(m.path("dir"), Permissions::from_mode(0o2775)).unwrap();
    chown(m.path("dir"), Some(1), None).unwrap();
    assert_eq!(fs::metadata(m.path("dir")).unwrap().mode() & 0o7777, 0o2775);
}

type Change = fn(&Path, &Path) -> io::Result<i64>;

/// Ways to change the content of a file of which the kernel does not say whether they take privileges: a hole, and a range of another
/// file that is copied.
const RANGES: [(&str, Change); 2] = [("hole", punch), ("copy", copy)];

/// Ways of which it says so. Each leaves a program as it is.
const WRITES: [(&str, Change); 4] =
    [("written", overwrite), ("direct", overwrite_directly), ("emptied", empty_and_write), ("cut", cut)];

fn punch(path: &Path, _: &Path) -> io::Result<i64> {
    let file = File::options().write(true).open(path)?;
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // Beyond its end: what is in the file stays.
    check(unsafe { libc::fallocate(file.as_raw_fd(), how, 1 << 40, 4096) })
}

fn copy(path: &Path, from: &Path) -> io::Result<i64> {
    let (from, to) = (File::open(from)?, File::options().write(true).open(path)?);
    let start = std::ptr::null_mut();
    let copied = unsafe { libc::copy_file_range(from.as_raw_fd(), start, to.as_raw_fd(), start, 1 << 30, 0) };
    check(i64::try_from(copied).unwrap())
}

fn overwrite(path: &Path, from: &Path) -> io::Result<i64> {
    File::options().write(true).open(path)?.write_all_at(fs::read(from)?.get(..100).unwrap(), 0)?;
    Ok(0)
}

fn overwrite_directly(path: &Path, from: &Path) -> io::Result<i64> {
    #[repr(align(4096))]
    struct Aligned([u8; 4096]);
    let mut start = Aligned([0; 4096]);
    File::open(from)?.read_exact_at(&mut start.0, 0)?;
    File::options().write(true).custom_flags(libc::O_DIRECT).open(path)?.write_all_at(&start.0, 0)?;
    Ok(0)
}

fn empty_and_write(path: &Path, from: &Path) -> io::Result<i64> {
    fs::write(path, fs::read(from)?)?;
    Ok(0)
}

fn cut(path: &Path, from: &Path) -> io::Result<i64> {
    File::options().write(true).open(path)?.set_len(from.metadata()?.len())?;
    Ok(0)
}

#[test]
fn set_uid_is_cleared_by_a_range_that_another_changes() {
    let m = Mounted::new();
    fs::write(m.path("from"), "content").unwrap();
    for (name, change) in RANGES {
        let path = privileged(&m, name);
        on_thread_of_user(|| change(&path, &m.path("from"))).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o777, "{name}");
    }
}

#[test]
fn set_uid_is_kept_by_a_range_that_root_changes() {
    let m = Mounted::new();
    fs::write(m.path("from"), "content").unwrap();
    for (name, change) in RANGES {
        let path = privileged(&m, name);
        change(&path, &m.path("from")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o6777, "{name}");
    }
}

#[test]
fn a_program_that_another_changed_runs_without_set_uid() {
    let m = Mounted::new();
    fs::copy("/usr/bin/id", m.path("from")).unwrap();
    for (name, change) in RANGES.into_iter().chain(WRITES) {
        let path = m.path(name);
        fs::copy("/usr/bin/id", &path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o4777)).unwrap();
        let runs_as = || as_user(&format!("./{name} -u"), m.root()).stdout;
        assert_eq!(runs_as(), b"0\n", "{name}");
        on_thread_of_user(|| change(&path, &m.path("from"))).unwrap();
        assert_eq!(runs_as(), b"1000\n", "{name}");
    }
}
