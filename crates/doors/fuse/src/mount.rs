//! Mounting and unmounting.

use crate::session::{Ended, Pool, Session, Store, handshake};
use crate::{Error, MountOptions, OpStats, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stoa_vfs::Vfs;
use tokio::runtime::Handle;

mod direct;
mod helper;
mod pages;
mod table;
mod tune;

pub use pages::Pages;

/// A mounted store. Dropping it unmounts lazily what is still mounted.
pub struct Mount {
    dir: PathBuf,
    stats: Arc<OpStats>,
    pages: Pages,
    runtime: Handle,
    ended: Ended,
}

impl std::fmt::Debug for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mount").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Mount {
    /// Mounts `vfs` at `dir`: as root directly, as another user through `fusermount3`. Returns when the mount can be used.
    /// Requests that can't be answered at once run in `runtime`, which has to live as long as the mount.
    ///
    /// # Errors
    /// What is wrong with `dir`, the machine or the permissions; see [`Error`].
    pub fn new(vfs: Arc<dyn Vfs>, dir: &Path, options: MountOptions, runtime: Handle) -> Result<Self> {
        let dir = checked(dir)?;
        let policy = vfs.cache_policy();
        let store = Store { policy, acls: vfs.has_acls() };
        let options = MountOptions { read_only: options.read_only || policy.read_only, ..options };
        let device = if is_root() { direct::mount(&dir, &options)? } else { helper::mount(&dir, &options)? };
        let started = handshake(&device, store, &options).and_then(|agreement| {
            let workers = options.worker_count();
            let pool = Pool::new(workers, options.buffers_max, runtime.clone());
            let session = Session::new(vfs, agreement, runtime.clone(), pool);
            let ended = session.start(device, workers).map_err(Error::io("starting a FUSE worker"))?;
            Ok((session, ended))
        });
        match started {
            Ok((session, ended)) => {
                tune::set_limits(&dir, &options);
                let stats = Arc::clone(&session.stats);
                Ok(Self { pages: Pages::new(dir.clone(), session), dir, stats, runtime, ended })
            }
            Err(error) => {
                // The reason why there is no session is what counts; the mount is dead without one.
                let _ = unmount(&dir, true);
                Err(error)
            }
        }
    }

    /// Waits until it was unmounted, by whomever, and every request has been answered.
    pub async fn wait(&self) {
        self.ended.wait().await;
    }

    /// Unmounts, and waits until every request has been answered. The kernel writes the pages that it holds back first. With
    /// `lazy`, the name goes at once, and the rest when the last file is closed; that is not waited for.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::NotMounted`], [`Error::NotPermitted`].
    pub async fn unmount(&self, lazy: bool) -> Result<()> {
        let dir = self.dir.clone();
        // The kernel asks for writes while it unmounts, so this must not hold up a thread that serves them.
        let task = self.runtime.spawn_blocking(move || unmount(&dir, lazy));
        task.await.map_err(|error| Error::io("unmounting")(io::Error::other(error)))??;
        if !lazy {
            self.wait().await;
        }
        Ok(())
    }

    /// Where it is mounted.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What programs wrote and the kernel has not sent yet.
    #[must_use]
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// What it did so far.
    #[must_use]
    pub fn stats(&self) -> &Arc<OpStats> {
        &self.stats
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // What is mounted there once this mount has ended is not ours.
        if !self.ended.is_over()
            && let Err(error) = unmount(&self.dir, true)
        {
            tracing::debug!(%error, "unmounting a dropped mount");
        }
    }
}

/// Unmounts what is mounted at `dir`; lazily if `lazy`. Blocks until the kernel has written its pages back.
///
/// # Errors
/// [`Error::Busy`], [`Error::NotMounted`], [`Error::NotPermitted`].
pub fn unmount(dir: &Path, lazy: bool) -> Result<()> {
    if is_root() { direct::unmount(dir, lazy) } else { helper::unmount(dir, lazy) }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The mount point, as the mount table will name it.
fn checked(dir: &Path) -> Result<PathBuf> {
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(libc::ENOENT) => Error::Missing(dir.to_owned()),
        Some(libc::ENOTDIR) => Error::NotDirectory(dir.to_owned()),
        Some(libc::EACCES) => Error::NotPermitted(dir.to_owned()),
        Some(libc::ENOTCONN | libc::ECONNABORTED) => Error::Dead(dir.to_owned()),
        _ => Error::io("looking at the mount point")(error),
    };
    let dir = fs::canonicalize(dir).map_err(failed)?;
    if !fs::metadata(&dir).map_err(failed)?.is_dir() {
        return Err(Error::NotDirectory(dir));
    }
    // Another volume would be hidden, and whoever uses it be surprised.
    if table::find(&dir).is_some_and(|entry| entry.kind == direct::KIND) {
        return Err(Error::AlreadyMounted(dir));
    }
    Ok(dir)
}
