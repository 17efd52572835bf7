use super::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn this_thread() -> u32 {
    let link = fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

#[test]
fn a_thread_belongs_to_its_process() {
    let thread = std::thread::spawn(this_thread).join().unwrap();
    assert_ne!(thread, std::process::id());
    let (known, same) =
        std::thread::spawn(|| (process_of(this_thread()), this_thread() != std::process::id())).join().unwrap();
    assert_eq!((known, same), (Some(std::process::id()), true));
    assert_eq!(process_of(1_000_000_000), None);
    assert_eq!(process_of(0), None);
}

#[test]
fn a_thread_has_the_capabilities_that_the_kernel_says() {
    // Those of all threads are the same here, in 16 digits.
    let said = fs::read_to_string("/proc/self/status").unwrap();
    let set = capabilities(this_thread()).unwrap();
    assert!(said.contains(&format!("CapEff:\t{set:016x}\n")), "{set:x} is not in {said}");
    assert_eq!(capabilities(1_000_000_000), None);
}

/// Who makes a user namespace has all capabilities in it, and none here.
#[test]
fn capabilities_of_another_user_namespace_are_not_known() {
    let mut unshare = Command::new("unshare");
    let child = Ended(unshare.args(["--user", "--map-root-user", "sh", "-c", "kill -STOP $$"]).spawn().unwrap());
    wait_until_stopped(&child.0);
    assert_ne!(status(child.0.id()).unwrap().number("CapEff", 16), Some(0));
    assert_eq!(capabilities(child.0.id()), None);
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: the child was not waited for, so that the number is its own.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
}

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A process that is stopped, so that what it is sent stays pending; `trap` is the shell's way to catch signals.
fn stopped(trap: &str) -> Ended {
    let program = format!("{trap}; kill -STOP $$; sleep 60");
    // A shell can't catch what was ignored when it began, as it is in the background of another.
    let child = Command::new("env").args(["--default-signal", "sh", "-c", &program]).spawn().unwrap();
    wait_until_stopped(&child);
    Ended(child)
}

fn wait_until_stopped(child: &Child) {
    let since = Instant::now();
    while !status(child.id()).unwrap().0.contains("(stopped)") {
        assert!(since.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A name of 15 bytes at most may end in the middle of a character.
#[test]
fn a_program_whose_name_is_no_text_is_known_as_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join(OsStr::from_bytes(b"\xe3\x83"));
    symlink("/bin/sh", &program).unwrap();
    let child = Ended(Command::new(&program).args(["-c", "read line"]).stdin(Stdio::piped()).spawn().unwrap());
    let pid = child.0.id();
    assert_eq!((process_of(pid), is_to_end(pid)), (Some(pid), Some(false)));
    assert!(capabilities(pid).is_some() && crate::started(pid).is_some());
}

#[test]
fn who_is_asked_to_end_is_told_from_who_is_only_woken() {
    for (trap, sent, expected) in [
        ("trap : INT", libc::SIGINT, true),
        ("trap '' INT", libc::SIGINT, false),
        ("trap : TERM", libc::SIGTERM, true),
        ("trap : CHLD", libc::SIGCHLD, false),
        ("trap : WINCH", libc::SIGWINCH, false),
        ("trap : USR1", libc::SIGUSR1, false),
    ] {
        let stopped = stopped(trap);
        assert_eq!(is_to_end(stopped.0.id()), Some(false), "{trap}");
        signal(&stopped.0, sent);
        assert_eq!(is_to_end(stopped.0.id()), Some(expected), "{trap}");
    }
    assert_eq!(is_to_end(1_000_000_000), None);
}
