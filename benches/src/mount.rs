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
/// How long a server may go on after its unmount.
const END_LIMIT: Duration = Duration::from_secs(120);

/// Dropping it detaches the directory and kills the process.
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

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Unmounts, and waits for the server to end.
    pub(crate) fn unmount(mut self) -> Result<()> {
        // A program that was just waited for may still be on its way out.
        until(
            "the mount is let go",
            Duration::from_secs(10),
            || Ok(unmount(&self.dir, UnmountFlags::empty()).is_ok()),
        )?;
        self.server.expect_end(END_LIMIT)
    }
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
