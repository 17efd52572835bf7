//! Where a test works: a fresh volume, or a directory that was given.

use crate::command::{self, Output, note, tail};
use crate::mount::{self, Mount};
use crate::{Fsck, StoreKind, TestStore, Watch};
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long a check of a test's volume may take.
const FSCK_LIMIT: Duration = Duration::from_secs(300);

/// What a test needs.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// Its name, for messages and scratch directories.
    pub name: &'static str,
    /// The store to make the volume in.
    pub store: StoreKind,
    /// The time it may take.
    pub limit: Duration,
    /// A plain directory instead of a volume, to compare with.
    pub local: bool,
    /// An empty store, in which nothing is made and of which nothing is mounted.
    pub empty: bool,
}

impl Setup {
    /// A volume in a local directory, and two minutes.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, store: StoreKind::Directory, limit: Duration::from_secs(120), local: false, empty: false }
    }

    /// A plain directory instead of a volume.
    #[must_use]
    pub fn local(self) -> Self {
        Self { local: true, ..self }
    }

    /// An empty store, in which nothing is made and of which nothing is mounted.
    #[must_use]
    pub fn empty(self) -> Self {
        Self { empty: true, ..self }
    }

    /// In another store.
    #[must_use]
    pub fn store(self, store: StoreKind) -> Self {
        Self { store, ..self }
    }

    /// With another limit.
    #[must_use]
    pub fn limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }
}

/// A directory to test, and, unless it was given, the volume behind it.
#[derive(Debug)]
pub struct Place {
    // Dropped in this order: the mount before its store, both before the directory they lie in.
    mount: Option<Mount>,
    store: Option<TestStore>,
    dir: PathBuf,
    scratch: TempDir,
    watch: Watch,
}

/// Runs a test in a fresh place, and adds the last words of the server to its error.
///
/// # Errors
/// What `test` fails with.
pub fn in_place(setup: Setup, test: impl FnOnce(&mut Place) -> Result<()>) -> Result<()> {
    let watch = Watch::start(setup.name, setup.limit);
    let stopped = watch.stopped_at_the_end();
    let result = Place::prepare(setup, &watch).and_then(|mut place| {
        test(&mut place).map_err(|error| {
            let log = std::fs::read_to_string(place.log()).unwrap_or_default();
            error.context(format!("{}; the server's log ends with:\n{}", setup.name, tail(&log)))
        })
    });
    drop(stopped);
    ensure!(!watch.expired(), "{} took longer than {} s; {result:?}", setup.name, setup.limit.as_secs());
    result
}

impl Place {
    fn prepare(setup: Setup, watch: &Watch) -> Result<Self> {
        let prefix = format!("{}-", setup.name);
        let mut scratch = tempfile::Builder::new();
        scratch.prefix(&prefix);
        let given = std::env::var_os("STOA_SUITE_DIR");
        let parent = given.clone().or_else(|| std::env::var_os("STOA_SUITE_SCRATCH"));
        let scratch = match &parent {
            Some(parent) => scratch.tempdir_in(parent).with_context(|| parent.display().to_string())?,
            None => scratch.tempdir()?,
        };
        let dir = scratch.path().join("files");
        if given.is_some() || setup.local {
            std::fs::create_dir(&dir)?;
            return Ok(Self { mount: None, store: None, dir, scratch, watch: watch.clone() });
        }
        let store = TestStore::start(setup.store, scratch.path(), watch)?;
        let mut place = Self { mount: None, store: Some(store), dir, scratch, watch: watch.clone() };
        if !setup.empty {
            place.stoa_ok("format", &[])?;
            place.mount(&[])?;
        }
        Ok(place)
    }

    /// The directory to work in.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.join(name)
    }

    /// A directory beside it, on another file system than a volume's.
    #[must_use]
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Whether this is a volume, and not a given directory.
    #[must_use]
    pub fn is_volume(&self) -> bool {
        self.store.is_some()
    }

    /// The store of the volume.
    ///
    /// # Errors
    /// If the directory was given.
    pub fn store(&mut self) -> Result<&mut TestStore> {
        self.store.as_mut().context("this test needs a volume: unset STOA_SUITE_DIR")
    }

    /// The process that serves the mount.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.mount.as_ref().and_then(Mount::pid)
    }

    /// Mounts the volume again.
    ///
    /// # Errors
    /// If that fails.
    pub fn mount(&mut self, args: &[&str]) -> Result<()> {
        ensure!(self.mount.is_none(), "mounted already");
        let dir = self.dir.clone();
        self.mount = Some(self.mount_on(&dir, args)?);
        Ok(())
    }

    /// Mounts the volume on another directory too, or instead.
    ///
    /// # Errors
    /// If that fails.
    pub fn mount_on(&self, dir: &Path, args: &[&str]) -> Result<Mount> {
        let store = self.store.as_ref().context("this test needs a volume: unset STOA_SUITE_DIR")?;
        Mount::start(store, dir, args, &self.log(), &self.watch)
    }

    /// Unmounts.
    ///
    /// # Errors
    /// If that fails, or nothing is mounted.
    pub fn unmount(&mut self) -> Result<()> {
        self.taken()?.unmount()
    }

    /// Kills the mount with SIGKILL.
    ///
    /// # Errors
    /// If nothing is mounted.
    pub fn kill(&mut self) -> Result<()> {
        self.taken()?.kill()
    }

    /// Runs `work` on another thread, kills the mount under it after `delay`, and returns what `work` did. It must stop
    /// at its first error: every call fails from then on.
    ///
    /// # Errors
    /// If nothing is mounted, or `work` panics.
    pub fn kill_during<T: Send>(&mut self, delay: Duration, work: impl FnOnce(&Path) -> T + Send) -> Result<T> {
        let mut mount = self.taken()?;
        let dir = self.dir.clone();
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || work(&dir));
            std::thread::sleep(delay);
            mount.kill()?;
            worker.join().map_err(|_| anyhow::anyhow!("the work panicked"))
        })
    }

    /// Takes the mount out of this place, to end it in another way.
    ///
    /// # Errors
    /// If nothing is mounted.
    pub fn taken(&mut self) -> Result<Mount> {
        self.mount.take().context("there is no mount: unset STOA_SUITE_DIR")
    }

    /// Forgets everything that is cached: unmounts and mounts a volume, drops the page cache of a given directory.
    ///
    /// # Errors
    /// If that fails.
    pub fn remount(&mut self) -> Result<()> {
        if !self.is_volume() {
            rustix::fs::sync();
            // Needs root; what was read from a warm cache is as good a test of a given directory.
            let _ = std::fs::write("/proc/sys/vm/drop_caches", "3");
            return Ok(());
        }
        self.unmount()?;
        self.mount(&[])
    }

    /// Runs `stoa COMMAND ARGS STORE`.
    ///
    /// # Errors
    /// If it can't be run; its status is in the result.
    pub fn stoa(&self, command: &str, args: &[&str]) -> Result<Output> {
        let store = self.store.as_ref().context("this test needs a volume: unset STOA_SUITE_DIR")?;
        self.stoa_on(command, args, store.url())
    }

    /// Runs `stoa COMMAND ARGS TARGET` with access to the store.
    ///
    /// # Errors
    /// If it can't be run; its status is in the result.
    pub fn stoa_on(&self, command: &str, args: &[&str], target: impl AsRef<OsStr>) -> Result<Output> {
        let access = self.store.as_ref().map(TestStore::access).unwrap_or_default();
        let takes_access = matches!(
            command,
            "bench" | "export" | "format" | "fsck" | "gc" | "import" | "mount" | "undelete" | "uploads" | "versions"
        );
        let mut stoa = mount::stoa(&access)?;
        stoa.arg(command).args(args);
        if takes_access {
            stoa.args(&access.args);
        }
        command::output(stoa.arg(target), FSCK_LIMIT)
    }

    fn stoa_ok(&self, command: &str, args: &[&str]) -> Result<String> {
        let output = self.stoa(command, args)?;
        ensure!(output.status.success(), "stoa {command}: {}\n{}", output.status, output.quoted());
        Ok(output.stdout)
    }

    /// What `stoa status --json` says about the mount.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn status(&self) -> Result<serde_json::Value> {
        let output = self.stoa_on("status", &["--json"], &self.dir)?;
        ensure!(output.status.success(), "stoa status: {}\n{}", output.status, output.quoted());
        serde_json::from_str(&output.stdout).with_context(|| output.quoted())
    }

    /// Waits, without asking for it, until the mount says that the store has all it was given.
    ///
    /// # Errors
    /// If that takes longer than `limit`.
    pub fn wait_until_stored(&self, limit: Duration) -> Result<()> {
        command::until("everything is in the store unasked", limit, || {
            let status = self.status()?;
            let left = |field: &str| status.pointer(&format!("/0/volume/{field}")).and_then(serde_json::Value::as_u64);
            let [dirty, uncommitted] = ["dirty_bytes", "uncommitted_operations"].map(left);
            Ok(dirty.context("no dirty_bytes")? == 0 && uncommitted.context("no uncommitted_operations")? == 0)
        })
    }

    /// Checks the volume, which must not be mounted, and returns what was found.
    ///
    /// # Errors
    /// If the check can't be made.
    pub fn fsck(&self) -> Result<Fsck> {
        ensure!(self.mount.is_none(), "unmount before a check");
        let output = self.stoa("fsck", &["--data", "--json"])?;
        if output.status.code() == Some(8) {
            bail!("stoa fsck could not check\n{}", output.quoted());
        }
        Fsck::parse(&output.stdout).with_context(|| output.quoted())
    }

    /// Fails unless `stoa fsck --data` finds nothing wrong.
    ///
    /// # Errors
    /// If it does: the problems are in the message.
    pub fn expect_clean(&self) -> Result<Fsck> {
        let report = self.fsck()?;
        ensure!(report.problems.is_empty(), "stoa fsck --data found {:#?}", report.problems);
        Ok(report)
    }

    /// Collects what is dead, and returns the report.
    ///
    /// # Errors
    /// If it fails.
    pub fn gc(&self) -> Result<serde_json::Value> {
        let report = self.stoa_ok("gc", &["--json"])?;
        serde_json::from_str(&report).with_context(|| format!("stoa gc --json printed\n{report}"))
    }

    /// The log of the server.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.scratch.path().join("stoa.log")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.mount.take());
        if std::thread::panicking() {
            note(&tail(&std::fs::read_to_string(self.log()).unwrap_or_default()));
        }
    }
}
