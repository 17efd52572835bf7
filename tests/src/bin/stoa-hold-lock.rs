//! Takes a lock on a file without waiting, says `held` or `busy`, and keeps it until stdin ends.
//!
//! Usage: `stoa-hold-lock fcntl|flock START LEN PATH`. Locks are between processes, so a test needs a second one.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, kind, start, len, path] = args.as_slice() else {
        bail!("usage: stoa-hold-lock fcntl|flock START LEN PATH");
    };
    let file = File::options().read(true).write(true).open(path).with_context(|| path.clone())?;
    let got = match kind.as_str() {
        "fcntl" => fcntl(&file, start.parse()?, len.parse()?)?,
        "flock" => flock(&file)?,
        other => bail!("no kind of lock: {other}"),
    };
    writeln!(std::io::stdout(), "{}", if got { "held" } else { "busy" })?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn fcntl(file: &File, start: i64, len: i64) -> Result<bool> {
    let lock = libc::flock {
        l_type: i16::try_from(libc::F_WRLCK)?,
        l_whence: i16::try_from(libc::SEEK_SET)?,
        l_start: start,
        l_len: len,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open, and the structure lives through the call.
    outcome(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) })
}

fn flock(file: &File) -> Result<bool> {
    // SAFETY: the descriptor is open.
    outcome(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) })
}

fn outcome(result: i32) -> Result<bool> {
    if result == 0 {
        return Ok(true);
    }
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error.into()),
    }
}
