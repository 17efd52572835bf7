//! What is known of a thread of another process, by `/proc` (`proc_pid_status(5)`).

use std::fs;
use std::os::unix::fs::MetadataExt;

/// The process that thread `thread` belongs to. `None` if it is not known: there is no such thread, or it may not be looked at.
#[must_use]
pub fn process_of(thread: u32) -> Option<u32> {
    status(thread)?.number("Tgid", 10)?.try_into().ok()
}

/// Whether thread `thread` got a signal by which somebody wants it to end or to give up what it waits for: what ends a program unless
/// it is caught, `SIGKILL` first of all. What wakes it for other reasons does not count: it was stopped, its children ended, its
/// machine went to sleep, its own runtime called it. Of a thread that may not be looked at, `None`.
#[must_use]
pub fn is_to_end(thread: u32) -> Option<bool> {
    let status = status(thread)?;
    let signals = |name| status.number(name, 16);
    let pending = signals("SigPnd")? | signals("ShdPnd")?;
    Some(pending & !signals("SigBlk")? & !signals("SigIgn")? & ENDING != 0)
}

/// The capabilities that thread `thread` has in effect, a bit for each by its number (`capabilities(7)`). `None` if it may not be looked at,
/// or lives in another user namespace: what it may do there, anybody may who makes one.
#[must_use]
pub fn capabilities(thread: u32) -> Option<u64> {
    let set = status(thread)?.number("CapEff", 16)?;
    (user_namespace(&thread.to_string()) == user_namespace("self")).then_some(set)
}

/// `None` if it may not be looked at. A kernel without them has none for anyone.
fn user_namespace(whose: &str) -> Option<u64> {
    fs::metadata(format!("/proc/{whose}/ns/user")).ok().map(|found| found.ino())
}

/// A signal that ends its program has become `SIGKILL` when it can be seen here, except for those that leave a core file and those that
/// are caught.
const ENDING: u64 = bit(libc::SIGKILL)
    | bit(libc::SIGTERM)
    | bit(libc::SIGINT)
    | bit(libc::SIGQUIT)
    | bit(libc::SIGHUP)
    | bit(libc::SIGABRT)
    | bit(libc::SIGALRM)
    | bit(libc::SIGXCPU);

const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

struct Status(String);

fn status(thread: u32) -> Option<Status> {
    crate::text(&format!("/proc/{thread}/status")).ok().map(Status)
}

impl Status {
    fn number(&self, name: &str, radix: u32) -> Option<u64> {
        let value = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        u64::from_str_radix(value.trim(), radix).ok()
    }
}

#[cfg(test)]
mod tests;
