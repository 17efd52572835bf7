//! One mount: a `stoa mount --foreground` process and the directory it serves.

use crate::command::{self, tail};
use crate::store::Access;
use crate::{TestStore, Watch, tools, watch};
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a mount, and an unmount, may take: even with a slow store and a machine under load.
const MOUNT_LIMIT: Duration = Duration::from_secs(90);
/// So often an unmount is tried again while the mount is in use,
const BUSY_TRIES: u32 = 10;
/// and so long after the time before.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// A mounted volume. Dropping it detaches the directory and kills the process.
#[derive(Debug)]
pub struct Mount {
    dir: PathBuf,
    log: PathBuf,
    server: Option<Child>,
    watch: Watch,
}

impl Mount {
    /// Mounts the volume in `store` on `dir`, and waits until it answers.
    ///
    /// # Errors
    /// If the server ends before: its last words are in the message.
    pub fn start(store: &TestStore, dir: &Path, args: &[&str], log: &Path, watch: &Watch) -> Result<Self> {
        ensure!(Path::new("/dev/fuse").exists(), "no /dev/fuse: mounts can't be tested on this machine");
        std::fs::create_dir_all(dir)?;
        let output = File::options().create(true).append(true).open(log)?;
        let mut command = stoa(&store.access())?;
        command.args(["mount", "--foreground"]).args(args).args(store.access().args).arg(store.url()).arg(dir);
        command.stdout(output.try_clone()?).stderr(output);
        let server = dies_with_us(&mut command).spawn().context("starting stoa mount")?;
        watch.add(server.id());
        let mut mount = Self { dir: dir.to_owned(), log: log.to_owned(), server: Some(server), watch: watch.clone() };
        mount.wait_until_mounted()?;
        Ok(mount)
    }

    fn wait_until_mounted(&mut self) -> Result<()> {
        let dir = self.dir.clone();
        let server = self.server.as_mut().context("no server")?;
        let log = &self.log;
        command::until("the mount answers", MOUNT_LIMIT, || {
            if let Some(status) = server.try_wait()? {
                bail!("stoa mount ended: {status}\n{}", tail(&std::fs::read_to_string(log)?));
            }
            Ok(is_mounted(&dir)? && std::fs::read_dir(&dir).is_ok())
        })
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The process that serves it.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    /// Kills the server as a power cut would. Any thread may have calls under way: they fail, as all later ones do until
    /// the mount is dropped and its directory is a plain one again.
    ///
    /// # Errors
    /// If it can't be reaped.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut server) = self.server.take() {
            server.kill()?;
            server.wait()?;
            self.watch.remove(server.id());
        }
        Ok(())
    }

    /// Unmounts with `stoa umount`, and waits for the server to end well.
    ///
    /// # Errors
    /// If either fails.
    pub fn unmount(self) -> Result<()> {
        let mut tries = 0;
        loop {
            let mut umount = stoa(&Access::default())?;
            let unmounted = command::run(umount.arg("umount").arg(&self.dir), MOUNT_LIMIT);
            match unmounted {
                // A program that another test of this process is starting has copies of all descriptors until it runs.
                Err(error) if tries < BUSY_TRIES && format!("{error:#}").contains("in use") => {
                    tries += 1;
                    std::thread::sleep(BUSY_PAUSE);
                }
                unmounted => return unmounted.and_then(|_| self.expect_end()),
            }
        }
    }

    /// Unmounts with umount(2), as umount(8) and a shutdown do, and waits for the server to end well.
    ///
    /// # Errors
    /// If either fails.
    pub fn unmount_by_kernel(self) -> Result<()> {
        rustix::mount::unmount(&self.dir, rustix::mount::UnmountFlags::empty())?;
        self.expect_end()
    }

    /// Asks the server to stop with SIGTERM, as a service manager does, and waits for it to end well.
    ///
    /// # Errors
    /// If it does not.
    pub fn terminate(self) -> Result<()> {
        let pid = self.server.as_ref().and_then(|server| i32::try_from(server.id()).ok());
        let pid = pid.and_then(rustix::process::Pid::from_raw).context("no server")?;
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        self.expect_end()
    }

    fn expect_end(mut self) -> Result<()> {
        let mut server = self.server.take().context("no server")?;
        let status = command::wait(&mut server, MOUNT_LIMIT)?;
        if status.is_none() {
            server.kill()?;
            server.wait()?;
        }
        self.watch.remove(server.id());
        let log = tail(&std::fs::read_to_string(&self.log)?);
        let status = status.with_context(|| format!("the server still ran after the unmount\n{log}"))?;
        ensure!(status.success(), "the server ended with {status}\n{log}");
        ensure!(!is_mounted(&self.dir)?, "still mounted after the unmount");
        Ok(())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Detached first: a program with a file open must not keep the directory busy.
        detach(&self.dir);
        if let Some(mut server) = self.server.take() {
            watch::kill(server.id());
            let _ = server.wait();
            self.watch.remove(server.id());
        }
    }
}

/// The `stoa` command with what it needs to reach a store in its environment.
pub(crate) fn stoa(access: &Access) -> Result<Command> {
    let mut command = Command::new(tools::stoa()?);
    command.envs(access.env.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
    Ok(command)
}

/// Whether something is mounted on `dir`.
pub(crate) fn is_mounted(dir: &Path) -> Result<bool> {
    let dir = dir.to_str().context("the directory's name is not UTF-8")?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    Ok(mounts.lines().any(|line| line.split(' ').nth(4) == Some(dir)))
}

/// Takes a mount out of the tree, dead or alive, busy or not.
fn detach(dir: &Path) {
    // It fails if nothing is mounted there, which is what is wanted.
    let _ = rustix::mount::unmount(dir, rustix::mount::UnmountFlags::DETACH);
}

/// Has the kernel kill the process when the thread that starts it ends: also if this process is killed.
pub(crate) fn dies_with_us(command: &mut Command) -> &mut Command {
    // SAFETY: prctl is async-signal-safe and touches no memory of ours.
    unsafe {
        command.pre_exec(|| {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        })
    }
}
