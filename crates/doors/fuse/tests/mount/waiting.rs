//! Stores that take their time, fail, or panic.

use crate::hooked::Hooked;
use crate::mounted::{Mounted, errno};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stoa_vfs::Error;

#[test]
fn operations_that_are_not_ready_at_once_are_answered_by_the_runtime() {
    let m = Mounted::of(Arc::new(Hooked::new(|_| async {
        tokio::time::sleep(Duration::from_micros(200)).await;
        Ok(())
    })));
    let data = vec![42; 3 << 20];
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (m, data) = (&m, &data);
            scope.spawn(move || {
                let dir = m.path(&format!("dir{thread}"));
                fs::create_dir(&dir).unwrap();
                for file in 0..10 {
                    fs::write(dir.join(format!("f{file}")), "x").unwrap();
                }
                fs::write(dir.join("big"), data).unwrap();
                assert_eq!(fs::read_dir(&dir).unwrap().count(), 11);
                assert!(fs::read(dir.join("big")).unwrap() == *data);
                fs::remove_dir_all(&dir).unwrap();
            });
        }
    });
    assert_eq!(fs::read_dir(m.root()).unwrap().count(), 0);
    m.settle();
}

#[test]
fn a_request_that_waits_does_not_hold_up_others() {
    let open = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&open);
    let m = Mounted::of(Arc::new(Hooked::new(move |op| {
        let gate = Arc::clone(&gate);
        async move {
            while op == "fsync" && !gate.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Ok(())
        }
    })));
    let file = fs::File::create(m.path("file")).unwrap();
    std::thread::scope(|scope| {
        // More than there are workers.
        let waiting: Vec<_> = (0..12).map(|_| scope.spawn(|| file.sync_all())).collect();
        let since = Instant::now();
        while m.mount.stats().in_flight() == 0 && since.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        for n in 0..100 {
            fs::write(m.path(&format!("other{n}")), "x").unwrap();
        }
        assert!(waiting.iter().all(|thread| !thread.is_finished()));
        open.store(true, Ordering::Relaxed);
        for thread in waiting {
            thread.join().unwrap().unwrap();
        }
    });
}

/// A mount whose lookups take as long as the switch is on, as it is at first.
fn stuck_in_lookups() -> (Mounted, Arc<AtomicBool>) {
    let stuck = Arc::new(AtomicBool::new(true));
    let gate = Arc::clone(&stuck);
    let m = Mounted::of(Arc::new(Hooked::new(move |op| {
        let gate = Arc::clone(&gate);
        async move {
            while op == "lookup" && gate.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Ok(())
        }
    })));
    (m, stuck)
}

fn until_one_waits(m: &Mounted) {
    let since = Instant::now();
    while m.mount.stats().in_flight() == 0 {
        assert!(since.elapsed() < Duration::from_secs(10), "nobody waits");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Starts `program` with `file`, and kills it once its request waits. Returns how long it took to die.
fn killed_while_waiting(m: &Mounted, program: &str, file: &str) -> Duration {
    let mut child =
        Command::new(program).arg(m.path(file)).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    until_one_waits(m);
    let since = Instant::now();
    child.kill().unwrap();
    child.wait().unwrap();
    since.elapsed()
}

#[test]
fn who_waits_for_a_lookup_can_be_killed_while_the_store_goes_on() {
    let (m, stuck) = stuck_in_lookups();
    assert!(killed_while_waiting(&m, "stat", "absent") < Duration::from_secs(5));
    assert_eq!(m.mount.stats().in_flight(), 1, "the store is still at it");
    stuck.store(false, Ordering::Relaxed);
    m.settle();
    fs::write(m.path("absent"), "x").unwrap();
    assert_eq!(fs::read(m.path("absent")).unwrap(), b"x");
}

/// Sends `signal` to a program that waits for a lookup, and says whether it then ended without an answer of the store.
fn gave_up_after(signals: &[i32]) -> bool {
    let (m, stuck) = stuck_in_lookups();
    let file = m.path("absent");
    // The shell has a handler, so that each signal wakes it; a file that is not there is nothing to it.
    let program = r#"trap : CHLD WINCH USR1 INT; if [ -e "$0" ]; then exit 2; else exit 3; fi"#;
    // It can't catch what was ignored when it began, as it is in the background of another shell.
    let mut child = Command::new("env").args(["--default-signal", "sh", "-c", program]).arg(&file).spawn().unwrap();
    until_one_waits(&m);
    for &signal in signals {
        // SAFETY: the child was not waited for, so that the number is its own.
        assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
        std::thread::sleep(Duration::from_millis(50));
    }
    let since = Instant::now();
    let mut ended = false;
    while !ended && since.elapsed() < Duration::from_millis(500) {
        ended = child.try_wait().unwrap().is_some();
        std::thread::sleep(Duration::from_millis(5));
    }
    stuck.store(false, Ordering::Relaxed);
    child.wait().unwrap();
    m.settle();
    ended
}

#[test]
fn a_program_that_is_woken_still_gets_its_answer() {
    assert!(!gave_up_after(&[libc::SIGCHLD, libc::SIGWINCH, libc::SIGUSR1]));
    assert!(!gave_up_after(&[libc::SIGSTOP, libc::SIGCONT]));
}

#[test]
fn a_program_that_is_to_end_does_not_wait() {
    assert!(gave_up_after(&[libc::SIGINT]));
    assert!(gave_up_after(&[libc::SIGTERM]));
    assert!(gave_up_after(&[libc::SIGCHLD, libc::SIGKILL]), "the kernel tells of the first signal alone");
}

#[test]
fn a_program_that_starts_others_while_it_writes_is_not_taken_to_have_closed() {
    let flushed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&flushed);
    let m = Mounted::of(Arc::new(
        Hooked::new(move |op| {
            count.fetch_add(u64::from(op == "flush"), Ordering::Relaxed);
            async { Ok(()) }
        })
        .shared(),
    ));
    let mut file = fs::File::create(m.path("file")).unwrap();
    file.write_all(b"half").unwrap();
    // Before something is written, any close is told of: also that of a program that another test starts.
    flushed.store(0, Ordering::Relaxed);
    // Their copies of the descriptor are closed when they run.
    for _ in 0..5 {
        assert!(Command::new("true").status().unwrap().success());
    }
    assert_eq!(flushed.load(Ordering::Relaxed), 0);
    // What this one writes is written by its end.
    let own = file.try_clone().unwrap();
    assert!(Command::new("echo").arg("more").stdout(own).status().unwrap().success());
    assert_eq!(flushed.load(Ordering::Relaxed), 2, "the program's end, and the copy that was made for it here");
    drop(file);
    assert_eq!(flushed.load(Ordering::Relaxed), 3);
    assert_eq!(fs::read(m.path("file")).unwrap(), b"halfmore\n");
}

#[test]
fn a_panic_is_an_error_of_one_request() {
    for pending in [false, true] {
        let m = Mounted::of(Arc::new(Hooked::new(move |op| async move {
            if op == "rmdir" {
                if pending {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                panic!("this is a test");
            }
            Ok(())
        })));
        fs::create_dir(m.path("dir")).unwrap();
        for _ in 0..20 {
            assert_eq!(errno(fs::remove_dir(m.path("dir"))), libc::EIO);
        }
        fs::write(m.path("file"), "still works").unwrap();
        assert_eq!(fs::read(m.path("file")).unwrap(), b"still works");
        m.settle();
    }
}

#[test]
fn errors_of_the_store_reach_the_program() {
    let m = Mounted::of(Arc::new(Hooked::new(|op| async move {
        match op {
            "fsync" => Err(Error::Io("the bucket is gone".to_owned())),
            "setxattr" => Err(Error::NoSpace),
            "link" => Err(Error::Fenced),
            "fallocate" => Err(Error::Unsupported("reserving")),
            _ => Ok(()),
        }
    })));
    let file = fs::File::create(m.path("file")).unwrap();
    assert_eq!(errno(file.sync_all()), libc::EIO);
    assert_eq!(errno(fs::hard_link(m.path("file"), m.path("link"))), libc::EROFS);
}

#[test]
fn a_shared_store_is_asked_every_time() {
    let m = Mounted::of(Arc::new(Hooked::new(|_| async { Ok(()) }).shared()));
    fs::write(m.path("file"), "x").unwrap();
    for name in ["file", "absent"] {
        let asked = m.count("lookup");
        for _ in 0..5 {
            let _ = fs::metadata(m.path(name));
        }
        assert!(m.count("lookup") >= asked + 5, "{name}");
    }
    let data = vec![8; 300_000];
    fs::write(m.path("file"), &data).unwrap();
    assert!(fs::read(m.path("file")).unwrap() == data);
    assert_eq!(fs::read_dir(m.root()).unwrap().count(), 1);
    assert!(m.count("opendir") >= 1);
}

#[test]
fn large_writes_of_a_store_that_keeps_them_hold_together() {
    let m = Mounted::of(Arc::new(Hooked::new(|op| async move {
        // The buffer of a waiting write must not be read into again.
        if op == "write" {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    })));
    std::thread::scope(|scope| {
        for thread in 0..6u8 {
            let path = m.path(&format!("direct{thread}"));
            scope.spawn(move || {
                let mut options = OpenOptions::new();
                let file =
                    options.read(true).write(true).create(true).custom_flags(libc::O_DIRECT).open(&path).unwrap();
                for round in 0..8u8 {
                    // Longer and shorter than what is handed over whole.
                    let len = if round % 2 == 0 { 1 << 20 } else { 64 << 10 };
                    file.write_all_at(&vec![thread * 16 + round; len], u64::from(round) << 20).unwrap();
                }
                let data = fs::read(&path).unwrap();
                for round in 0..8u8 {
                    let at = usize::from(round) << 20;
                    let len = if round % 2 == 0 { 1 << 20 } else { 64 << 10 };
                    assert!(data[at..at + len].iter().all(|&byte| byte == thread * 16 + round), "{thread} {round}");
                }
            });
        }
    });
}
