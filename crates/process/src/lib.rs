//! Processes of this machine: whether one still runs, which one a thread belongs to, what it may do, and whether it was asked to end.
//!
//! A number alone does not tell: it is given again. With the time when the process started it names one process, for as long as the
//! kernel runs and within one namespace of process ids.

mod thread;

pub use thread::{capabilities, is_to_end, process_of};

use std::fs;
use std::io;

/// When process `pid` started, in clock ticks since boot. `None` if there is no such process, or one that has ended and that its
/// parent has not noticed.
#[must_use]
pub fn started(pid: u32) -> Option<u64> {
    let stat = stat(pid).ok()?;
    if is_zombie(&stat) { None } else { start_time(&stat) }
}

/// Whether the process that started at `start`, as [`started`] says it, is known to be no more. Of one that may not be looked at, nothing is
/// known.
#[must_use]
pub fn is_gone(pid: u32, start: u64) -> bool {
    match stat(pid) {
        Ok(stat) => is_zombie(&stat) || start_time(&stat).is_some_and(|now| now != start),
        Err(error) => error.kind() == io::ErrorKind::NotFound && !exists(pid),
    }
}

fn stat(pid: u32) -> io::Result<String> {
    text(&format!("/proc/{pid}/stat"))
}

/// A file of `/proc`. The name of a program in it is any bytes, and often a character that was cut; what is asked for here is not in it.
fn text(path: &str) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

/// Whether there is such a process, though `/proc` may hide it (`hidepid`).
fn exists(pid: u32) -> bool {
    // 0 and negative numbers name groups of processes: such a number is in doubt.
    let Some(pid) = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0) else { return true };
    // SAFETY: signal 0 is never sent; the call only looks whether it could be.
    let there = unsafe { libc::kill(pid, 0) } == 0;
    there || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

/// The fields from the third on. The second is the name of the program in parentheses and may itself hold spaces and parentheses, so
/// counting begins after the last one (`proc_pid_stat(5)`).
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_ascii_whitespace()
}

/// Field 3: a process that ended, and whose parent has not asked how.
fn is_zombie(stat: &str) -> bool {
    fields(stat).next().is_some_and(|state| state.starts_with(['Z', 'X']))
}

/// Field 22.
fn start_time(stat: &str) -> Option<u64> {
    fields(stat).nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests;
