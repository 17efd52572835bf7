//! A mounted directory with the process behind it.

use crate::guard;
use crate::server::Server;
use anyhow::{Context, Result};
use rustix::mount::{UnmountFlags, unmount};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use stoa_tests::command::until;

/// How long it may take until a mount answers.
const MOUNT_LIMIT: Duration = Duration::from_secs(60);
/// How long a mount may be busy when nobody uses it any more.
const LET_GO_LIMIT: Duration = Duration::from_secs(10);
/// How long a server may go on after its unmount.
const END_LIMIT: Duration = Duration::from_secs(120);

/// A directory that is served until it is unmounted.
pub(crate) trait Mounted {
    fn dir(&self) -> &Path;

    /// The processes that serve it.
    fn pids(&self) -> Vec<u32>;

    /// Unmounts, and waits for the processes to end.
    fn unmount(self: Box<Self>) -> Result<()>;
}

/// A FUSE mount of one process. Dropping it detaches the directory and kills the process.
#[derive(Debug)]
pub(crate) struct Mount {
    dir: PathBuf,
    server: Server,
}

impl Mount {
    /// Runs `command`, which serves `dir` until it is unmounted, and waits until it answers.
    pub(crate) fn start(command: &mut Command, dir: &Path, log: &Path) -> Result<Self> {
        guard::add_mount(dir);
        let mut mount = Self { dir: dir.to_owned(), server: Server::start(command, log)? };
        until("the mount answers", MOUNT_LIMIT, || {
            mount.server.expect_alive()?;
            Ok(is_mounted(dir)? && std::fs::read_dir(dir).is_ok())
        })?;
        Ok(mount)
    }
}

impl Mounted for Mount {
    fn dir(&self) -> &Path {
        &self.dir
    }

    fn pids(&self) -> Vec<u32> {
        vec![self.server.pid()]
    }

    fn unmount(mut self: Box<Self>) -> Result<()> {
        let_go(&self.dir)?;
        self.server.expect_end(END_LIMIT)
    }
}

/// Unmounts what is mounted on `dir`.
pub(crate) fn let_go(dir: &Path) -> Result<()> {
    // A program that was just waited for may still be on its way out.
    until("the mount is let go", LET_GO_LIMIT, || Ok(unmount(dir, UnmountFlags::empty()).is_ok()))
}

impl Drop for Mount {
    fn drop(&mut self) {
        guard::detach(&self.dir);
        guard::remove_mount(&self.dir);
    }
}

fn is_mounted(dir: &Path) -> Result<bool> {
    let dir = dir.to_str().context("the directory's name is not UTF-8")?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    Ok(mounts.lines().any(|line| line.split(' ').nth(4) == Some(dir)))
}
