//! File locks held by another process.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What kind of lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// fcntl(2): POSIX record locks, of a byte range.
    Fcntl {
        /// Where the range starts.
        start: i64,
        /// How long it is; 0 is to the end.
        len: i64,
    },
    /// flock(2).
    Flock,
}

/// A process that tried to take a lock, and keeps it, if it got it, until it is dropped.
#[derive(Debug)]
pub struct Holder {
    process: Child,
    got: bool,
}

impl Holder {
    /// Starts `program` (`stoa-hold-lock`), which tries to take a lock without waiting.
    ///
    /// # Errors
    /// If it can't be started, or fails with anything but "busy".
    pub fn start(program: &str, path: &Path, kind: LockKind) -> Result<Self> {
        let mut command = Command::new(program);
        match kind {
            LockKind::Fcntl { start, len } => command.args(["fcntl", &start.to_string(), &len.to_string()]),
            LockKind::Flock => command.args(["flock", "0", "0"]),
        };
        let mut process = command.arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut answer = String::new();
        BufReader::new(process.stdout.take().context("no stdout")?).read_line(&mut answer)?;
        let got = match answer.trim() {
            "held" => true,
            "busy" => false,
            other => {
                let _ = process.wait();
                bail!("the lock holder says {other:?}")
            }
        };
        Ok(Self { process, got })
    }

    /// Whether it got the lock.
    #[must_use]
    pub fn got(&self) -> bool {
        self.got
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It ends when its stdin does; waiting makes sure that the lock is gone when this returns.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
