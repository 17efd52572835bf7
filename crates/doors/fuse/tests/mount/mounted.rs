//! A mount that a test can use and that is gone afterwards.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;
use stoa_conformance::Model;
use stoa_fuse::{Mount, MountOptions};
use stoa_vfs::Vfs;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// No test takes a tenth of it.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) struct Mounted {
    pub(crate) mount: Mount,
    pub(crate) runtime: Runtime,
    dir: TempDir,
}

impl Mounted {
    pub(crate) fn new() -> Self {
        Self::of(Arc::new(Model::new()))
    }

    pub(crate) fn of(vfs: Arc<dyn Vfs>) -> Self {
        Self::with(vfs, MountOptions { suid: true, dev: true, ..MountOptions::default() })
    }

    pub(crate) fn with(vfs: Arc<dyn Vfs>, options: MountOptions) -> Self {
        watch();
        let dir = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let mount = Mount::new(vfs, dir.path(), options, runtime.handle().clone()).unwrap();
        // Anyone may enter: some tests are other users.
        let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(dir.path(), everyone).unwrap();
        Self { mount, runtime, dir }
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// How often the kernel asked for `op`.
    pub(crate) fn count(&self, op: &str) -> u64 {
        self.mount.stats().counts().iter().filter(|count| count.op == op).map(|count| count.count).sum()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A test that failed may have left files open.
        let gone = self.runtime.block_on(self.mount.unmount(false));
        if gone.is_err() && !std::thread::panicking() {
            panic!("a test left its mount in use: {gone:?}");
        }
    }
}

/// Ends the process, and with it the mounts, if a test hangs.
fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            eprintln!("a mount test hangs");
            std::process::abort();
        });
    });
}

pub(crate) fn c(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).unwrap()
}

/// The result of a system call that returns -1 for an error.
pub(crate) fn check(status: impl Into<i64>) -> io::Result<i64> {
    match status.into() {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// The errno of a failure.
pub(crate) fn errno<T: std::fmt::Debug>(result: io::Result<T>) -> i32 {
    result.unwrap_err().raw_os_error().unwrap()
}

/// Runs `work` in a process of user and group 1000, and returns its exit status.
pub(crate) fn as_user(command: &str, dir: &Path) -> std::process::Output {
    use std::os::unix::process::CommandExt;
    std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(dir)
        .uid(1000)
        .gid(1000)
        .output()
        .unwrap()
}
