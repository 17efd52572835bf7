//! A mount that a test can use and that is gone afterwards.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};
use stoa_conformance::Model;
use stoa_fuse::{Error, Mount, MountOptions};
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
        self.mount.stats().counts().iter().filter(|count| count.op == op).map(|count| count.times.count()).sum()
    }
}

impl Mounted {
    /// Waits until no request is under way: the kernel sends some, like RELEASE, after the call that caused them.
    pub(crate) fn settle(&self) {
        let since = Instant::now();
        while self.mount.stats().in_flight() > 0 {
            assert!(since.elapsed() < Duration::from_secs(20), "requests are left over");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Other tests start programs, which hold this one's descriptors for as long as they have forked and not executed.
        let since = Instant::now();
        let gone = loop {
            match self.runtime.block_on(self.mount.unmount(false)) {
                Err(Error::Busy(_)) if since.elapsed() < Duration::from_secs(5) => {}
                gone => break gone,
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        // A test that failed may have left files open; then the mount goes lazily.
        assert!(gone.is_ok() || std::thread::panicking(), "a test left its mount in use: {gone:?}");
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

/// Held while the kernel's caches are emptied, which empties them for every test.
static CACHES: RwLock<()> = RwLock::new(());

/// Empties the kernel's caches.
pub(crate) fn drop_caches() {
    let _alone = CACHES.write();
    std::fs::write("/proc/sys/vm/drop_caches", "3").unwrap();
}

/// While this is held, no other test empties the kernel's caches.
pub(crate) fn keep_caches() -> Option<RwLockReadGuard<'static, ()>> {
    CACHES.read().ok()
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
    std::process::Command::new("sh").args(["-c", command]).current_dir(dir).uid(1000).gid(1000).output().unwrap()
}

/// Does `work` on a thread of user and group 1000, which has no capabilities.
pub(crate) fn on_thread_of_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let become_user = || {
        // The system calls themselves change one thread; those of the C library change them all.
        check(unsafe { libc::syscall(libc::SYS_setresgid, 1000, 1000, 1000) }).unwrap();
        check(unsafe { libc::syscall(libc::SYS_setresuid, 1000, 1000, 1000) }).unwrap();
        work()
    };
    std::thread::scope(|scope| scope.spawn(become_user).join().unwrap())
}
