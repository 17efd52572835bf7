//! The kernel's page cache.

use crate::mounted::{Mounted, drop_caches, keep_caches};
use std::fs::{self, OpenOptions};
use std::os::fd::AsRawFd;

#[test]
fn what_is_written_through_a_shared_mapping_is_read() {
    let m = Mounted::new();
    let path = m.path("mapped");
    fs::write(&path, [1u8; 3 * 4096]).unwrap();
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let len = 3 * 4096;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let at = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    assert_ne!(at, libc::MAP_FAILED);
    let bytes = unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>(), len) };
    assert_eq!(bytes[5000], 1);
    bytes[5000] = 77;
    bytes[len - 1] = 78;
    assert_eq!(unsafe { libc::msync(at, len, libc::MS_SYNC) }, 0);
    assert_eq!(unsafe { libc::munmap(at, len) }, 0);
    drop(file);
    drop_caches();
    let data = fs::read(&path).unwrap();
    assert_eq!((data[4999], data[5000], data[len - 1]), (1, 77, 78));
}

#[test]
fn attributes_and_absent_names_are_remembered_by_the_kernel() {
    let _kept = keep_caches();
    let m = Mounted::new();
    fs::write(m.path("there"), "x").unwrap();
    let stat = || {
        fs::metadata(m.path("there")).unwrap();
        fs::metadata(m.path("absent")).unwrap_err();
    };
    stat();
    let asked = m.count("lookup") + m.count("getattr");
    for _ in 0..100 {
        stat();
    }
    assert_eq!(m.count("lookup") + m.count("getattr"), asked);
    fs::write(m.path("absent"), "now there").unwrap();
    assert_eq!(fs::read(m.path("absent")).unwrap(), b"now there");
}

#[test]
fn pages_stay_in_the_cache_when_a_file_is_opened_again() {
    let _kept = keep_caches();
    let m = Mounted::new();
    fs::write(m.path("file"), vec![5; 200_000]).unwrap();
    fs::read(m.path("file")).unwrap();
    let reads = m.count("read");
    for _ in 0..10 {
        assert_eq!(fs::read(m.path("file")).unwrap().len(), 200_000);
    }
    assert_eq!(m.count("read"), reads);
}
