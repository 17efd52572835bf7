//! Processes that serve something while a row is measured.

use crate::guard;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;
use stoa_tests::command::{self, tail};

/// A running process. It is killed when this is dropped, and by the kernel if this process is killed.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    log: PathBuf,
}

/// A command that the kernel kills when the thread ends that starts it. It keeps the pid of what it runs.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = command::program("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(name);
    command
}

impl Server {
    /// Starts one; what it says is appended to `log`.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let output = File::options().create(true).append(true).open(log)?;
        command.stdout(output.try_clone()?);
        Self::spawn(command, output, log)
    }

    /// Starts one that is talked to.
    pub(crate) fn start_piped(command: &mut Command, log: &Path) -> Result<(Self, ChildStdin, ChildStdout)> {
        let output = File::options().create(true).append(true).open(log)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = Self::spawn(command, output, log)?;
        let pipes = server.child.stdin.take().zip(server.child.stdout.take());
        let (stdin, stdout) = pipes.context("pipes")?;
        Ok((server, stdin, stdout))
    }

    fn spawn(command: &mut Command, stderr: File, log: &Path) -> Result<Self> {
        // A group of its own: Ctrl-C is for this process, which ends the others in order.
        let child = command.stderr(stderr).process_group(0).spawn();
        let child = child.with_context(|| format!("starting {}", command.get_program().display()))?;
        guard::add_server(child.id());
        Ok(Self { child, log: log.to_owned() })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Fails, with its last words, if it has ended.
    pub(crate) fn expect_alive(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("ended: {status}\n{}", self.last_words()),
            None => Ok(()),
        }
    }

    /// Waits until it ends by itself.
    pub(crate) fn expect_end(&mut self, limit: Duration) -> Result<()> {
        match command::wait(&mut self.child, limit)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!("ended: {status}\n{}", self.last_words()),
            None => bail!("did not end within {} s of its unmount", limit.as_secs()),
        }
    }

    /// Asks it to end, and waits until it does; None if that takes longer than `limit`.
    pub(crate) fn terminate(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("a pid")?;
        kill_process(pid, Signal::TERM)?;
        command::wait(&mut self.child, limit)
    }

    pub(crate) fn last_words(&self) -> String {
        tail(&std::fs::read_to_string(&self.log).unwrap_or_default())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        guard::kill(self.child.id());
        let _ = self.child.wait();
        guard::remove_server(self.child.id());
    }
}
