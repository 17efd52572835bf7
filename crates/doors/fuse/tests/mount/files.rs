//! Reading and writing.

use crate::mounted::{Mounted, c, check, drop_caches, errno};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

/// Bytes in which every place differs from its neighbours.
fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|at| (at.wrapping_mul(31) >> 3) as u8 ^ at as u8 ^ seed).collect()
}

#[test]
fn what_is_written_is_read() {
    let m = Mounted::new();
    for len in [0, 1, 4095, 4096, 4097, 131_072, 1 << 20, (5 << 20) + 3] {
        let path = m.path(&format!("file-{len}"));
        let data = pattern(len, 7);
        fs::write(&path, &data).unwrap();
        assert!(fs::read(&path).unwrap() == data, "{len} bytes");
        assert_eq!(fs::metadata(&path).unwrap().len(), len as u64);
    }
}

#[test]
fn what_is_written_reaches_the_store() {
    let m = Mounted::new();
    let path = m.path("file");
    let data = pattern((3 << 20) + 17, 1);
    let file = File::create(&path).unwrap();
    (&file).write_all(&data).unwrap();
    file.sync_all().unwrap();
    drop(file);
    // Without the kernel's pages, it can only come from the store.
    drop_caches();
    let reads = m.count("read");
    assert!(fs::read(&path).unwrap() == data);
    assert!(m.count("read") > reads, "the kernel answered by itself");
    assert!(m.count("fsync") >= 1);
}

#[test]
fn direct_io_writes_and_reads_large_requests() {
    let m = Mounted::new();
    let path = m.path("direct");
    let data = pattern(4 << 20, 9);
    let open =
        |write| OpenOptions::new().read(true).write(write).create(write).custom_flags(libc::O_DIRECT).open(&path);
    let file = open(true).unwrap();
    file.write_all_at(&data, 0).unwrap();
    let writes = m.count("write");
    assert!(writes <= 8, "{writes} writes for 4 MiB");
    let mut back = vec![0; data.len()];
    open(false).unwrap().read_exact_at(&mut back, 0).unwrap();
    assert!(back == data);
}

#[test]
fn appends_from_two_descriptors_do_not_overwrite() {
    let m = Mounted::new();
    let path = m.path("log");
    let open = || OpenOptions::new().append(true).create(true).open(&path).unwrap();
    let (mut a, mut b) = (open(), open());
    for _ in 0..50 {
        a.write_all(b"aaaa").unwrap();
        b.write_all(b"bbbb").unwrap();
    }
    drop((a, b));
    assert_eq!(fs::read(&path).unwrap(), b"aaaabbbb".repeat(50));
}

#[test]
fn a_write_only_file_takes_a_part_of_a_page() {
    let m = Mounted::new();
    let path = m.path("partial");
    fs::write(&path, pattern(8192, 3)).unwrap();
    drop_caches();
    // The kernel has to read the page around it through a descriptor that is not for reading.
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"middle", 5000).unwrap();
    drop(file);
    let mut want = pattern(8192, 3);
    want[5000..5006].copy_from_slice(b"middle");
    assert!(fs::read(&path).unwrap() == want);
}

#[test]
fn truncating_cuts_and_extends_with_zeros() {
    let m = Mounted::new();
    let path = m.path("cut");
    fs::write(&path, pattern(10_000, 5)).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(100).unwrap();
    file.set_len(6000).unwrap();
    let data = fs::read(&path).unwrap();
    assert_eq!(data.len(), 6000);
    assert_eq!(data[..100], pattern(10_000, 5)[..100]);
    assert!(data[100..].iter().all(|&byte| byte == 0));
    drop(file);
    File::options().write(true).truncate(true).open(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    check(unsafe { libc::truncate(c(&path).as_ptr(), 12) }).unwrap();
    assert_eq!(fs::read(&path).unwrap(), [0; 12]);
}

#[test]
fn exclusive_creation_fails_for_what_is_there() {
    let m = Mounted::new();
    let path = m.path("once");
    File::create_new(&path).unwrap();
    assert_eq!(errno(File::create_new(&path)), libc::EEXIST);
    assert_eq!(errno(File::create(m.root())), libc::EISDIR);
}

#[test]
fn an_unlinked_open_file_lives_until_it_is_closed() {
    let m = Mounted::new();
    let path = m.path("ghost");
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    file.write_all(b"still here").unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(errno(fs::metadata(&path)), libc::ENOENT);
    assert_eq!(file.metadata().unwrap().nlink(), 0);
    file.write_all(b", and written").unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "still here, and written");
    file.set_len(3).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 3);
}

#[test]
fn an_unnamed_file_can_be_given_a_name() {
    let m = Mounted::new();
    let open = |flags| unsafe { libc::open(c(m.root()).as_ptr(), libc::O_TMPFILE | libc::O_RDWR | flags, 0o640) };
    let fd = check(open(0)).unwrap();
    let mut file = unsafe { File::from_raw_fd(fd as i32) };
    file.write_all(b"named later").unwrap();
    assert_eq!(file.metadata().unwrap().nlink(), 0);
    assert_eq!(fs::read_dir(m.root()).unwrap().count(), 0);
    let from = c(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let to = c(m.path("name"));
    let linked =
        unsafe { libc::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW) };
    check(linked).unwrap();
    assert_eq!(fs::read(m.path("name")).unwrap(), b"named later");
    assert_eq!(file.metadata().unwrap().nlink(), 1);
    assert_eq!(m.count("tmpfile"), 1);
}

#[test]
fn writers_in_parallel_each_find_what_they_wrote() {
    let m = Mounted::new();
    let shared = m.path("shared");
    File::create(&shared).unwrap().set_len(8 << 18).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8u8 {
            let (m, shared) = (&m, &shared);
            scope.spawn(move || {
                for round in 0..20u8 {
                    let path = m.path(&format!("t{thread}-{round}"));
                    let data = pattern(10_000 + usize::from(round), thread);
                    fs::write(&path, &data).unwrap();
                    assert!(fs::read(&path).unwrap() == data);
                }
                let file = OpenOptions::new().write(true).open(shared).unwrap();
                file.write_all_at(&pattern(1 << 18, thread), u64::from(thread) << 18).unwrap();
                file.sync_all().unwrap();
            });
        }
    });
    let all = fs::read(&shared).unwrap();
    for thread in 0..8u8 {
        let from = usize::from(thread) << 18;
        assert!(all[from..from + (1 << 18)] == pattern(1 << 18, thread), "part {thread}");
    }
    assert_eq!(fs::read_dir(m.root()).unwrap().count(), 161);
}
