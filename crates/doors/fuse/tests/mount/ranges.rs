//! Holes, reservations and copies of ranges.

use crate::mounted::{Mounted, check, errno};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};

fn fallocate(file: &File, mode: i32, offset: i64, len: i64) -> io::Result<i64> {
    check(unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, len) })
}

fn open(m: &Mounted, name: &str) -> File {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(m.path(name)).unwrap()
}

#[test]
fn ranges_are_reserved_punched_and_zeroed() {
    let m = Mounted::new();
    let file = open(&m, "file");
    fallocate(&file, libc::FALLOC_FL_KEEP_SIZE, 0, 10_000).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 0);
    fallocate(&file, 0, 0, 12_288).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 12_288);
    file.write_all_at(&[7; 12_288], 0).unwrap();
    fallocate(&file, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, 4096, 4096).unwrap();
    fallocate(&file, libc::FALLOC_FL_ZERO_RANGE, 12_000, 1000).unwrap();
    let data = fs::read(m.path("file")).unwrap();
    assert_eq!(data.len(), 13_000);
    assert!(data[..4096].iter().all(|&b| b == 7) && data[8192..12_000].iter().all(|&b| b == 7));
    assert!(data[4096..8192].iter().all(|&b| b == 0) && data[12_000..].iter().all(|&b| b == 0));
    assert_eq!(errno(fallocate(&file, libc::FALLOC_FL_COLLAPSE_RANGE, 0, 4096)), libc::EOPNOTSUPP);
}

#[test]
fn holes_are_found() {
    let m = Mounted::new();
    let file = open(&m, "sparse");
    file.set_len(4 << 20).unwrap();
    file.write_all_at(&[1; 65_536], 1 << 20).unwrap();
    file.sync_all().unwrap();
    let seek = |offset, whence| check(unsafe { libc::lseek(file.as_raw_fd(), offset, whence) });
    assert_eq!(seek(0, libc::SEEK_HOLE).unwrap(), 0);
    let data = seek(0, libc::SEEK_DATA).unwrap();
    assert_eq!(data, 1 << 20);
    let hole = seek(data, libc::SEEK_HOLE).unwrap();
    assert_eq!(hole, (1 << 20) + 65_536);
    assert_eq!(errno(seek(hole, libc::SEEK_DATA)), libc::ENXIO);
    assert_eq!(seek((4 << 20) - 1, libc::SEEK_HOLE).unwrap(), (4 << 20) - 1);
    assert_eq!(errno(seek(4 << 20, libc::SEEK_HOLE)), libc::ENXIO);
    assert!(file.metadata().unwrap().blocks() * 512 < 1 << 20, "a hole takes space");
}

#[test]
fn ranges_are_copied_by_the_store() {
    let m = Mounted::new();
    let data: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    fs::write(m.path("from"), &data).unwrap();
    let (from, to) = (open(&m, "from"), open(&m, "to"));
    to.write_all_at(&[9; 100], 0).unwrap();
    let (mut at, mut to_at) = (1000, 50);
    let copied =
        unsafe { libc::copy_file_range(from.as_raw_fd(), &raw mut at, to.as_raw_fd(), &raw mut to_at, 1 << 30, 0) };
    assert_eq!(copied, 299_000);
    let back = fs::read(m.path("to")).unwrap();
    assert!(back[..50] == [9; 50] && back[50..] == data[1000..]);
    assert_eq!(m.count("copy_file_range") + m.count("copy_file_range_64"), 1);
}
