//! The kernel's page cache.

use crate::hooked::Hooked;
use crate::mounted::{Mounted, drop_caches, keep_caches};
use std::fs::{self, OpenOptions};
use std::os::fd::AsRawFd;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

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

/// A program that has written a file, without a pause, and goes on to hold it open.
struct Writer(Child);

impl Writer {
    fn of(m: &Mounted, name: &str, bytes: usize) -> Self {
        // The shell writes by itself, and closes nothing: that would wait until the pages were taken.
        let script = format!("exec > {name}; printf '%{bytes}d' 1; kill -STOP $$");
        let child = Command::new("sh").args(["-c", &script]).current_dir(m.root()).spawn().unwrap();
        let status = || fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        while !status().contains("(stopped)") {
            std::thread::sleep(Duration::from_millis(1));
        }
        Self(child)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn writing_back_waits_until_pages_of_open_files_were_taken() {
    const LEN: usize = 8 << 20;
    let m = Mounted::of(Arc::new(Hooked::new(|op| async move {
        if op == "write" {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Ok(())
    })));
    let _writers = ["file", "unlinked"].map(|name| Writer::of(&m, name, LEN));
    fs::remove_file(m.path("unlinked")).unwrap();
    assert!(m.mount.stats().written_bytes() < 2 * LEN as u64, "nothing is left to be waited for");
    m.mount.pages().write_back().unwrap();
    assert_eq!(m.mount.stats().written_bytes(), 2 * LEN as u64);
}
