//! Written pages that the kernel still holds.

use crate::apart::apart;
use crate::session::Session;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::Arc;
use stoa_vfs::Ino;

/// What programs wrote to a mount and the kernel has not sent yet.
#[derive(Clone)]
pub struct Pages {
    dir: PathBuf,
    session: Arc<Session>,
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Pages {
    pub(super) fn new(dir: PathBuf, session: Arc<Session>) -> Self {
        Self { dir, session }
    }

    /// Has the kernel send them. Blocks until the mount has taken them, if this process is root's; durable they are only after
    /// [`stoa_vfs::Vfs::sync`].
    ///
    /// # Errors
    /// The directory can't be opened, or a page could not be written.
    pub fn write_back(&self) -> io::Result<()> {
        let (dir, files) = (self.dir.clone(), self.session.maybe_written());
        apart(move || {
            let root = File::open(dir)?;
            // For all of them at once. Few kernels wait until it is done.
            rustix::fs::syncfs(&root)?;
            files.into_iter().try_for_each(|ino| wait_for(&root, ino))
        })
    }
}

/// Waits until the pages of a file were sent and answered: as every kernel does when one is closed, however it was opened. Telling the kernel to
/// drop them would wait too, but holds the device: if this process were killed meanwhile, it would never end.
fn wait_for(root: &File, ino: Ino) -> io::Result<()> {
    match open(root, ino) {
        Ok(file) => close(file),
        Err(error) => {
            // It is gone by now, or this process may not open files by their number, as only root may.
            tracing::debug!(%error, %ino, "written pages are not waited for");
            Ok(())
        }
    }
}

/// A file as the kernel names it to who exports a FUSE mount (`FILEID_INO64_GEN`).
#[repr(C)]
struct Named {
    bytes: libc::c_uint,
    kind: libc::c_int,
    ino_high: u32,
    ino_low: u32,
    generation: u32,
}

#[allow(clippy::cast_possible_truncation, reason = "the halves of a number")]
fn open(root: &File, ino: Ino) -> io::Result<OwnedFd> {
    const INO64_GEN: libc::c_int = 0x81;
    // There is one generation, as numbers are never used again.
    let mut named =
        Named { bytes: 12, kind: INO64_GEN, ino_high: (ino.0 >> 32) as u32, ino_low: ino.0 as u32, generation: 0 };
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: `named` begins like a `file_handle`, is followed by as many bytes as it says, and outlives the call.
    let file = unsafe { libc::open_by_handle_at(root.as_raw_fd(), (&raw mut named).cast(), flags) };
    match file {
        RawFd::MIN..0 => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor was made just now, and nobody else has it.
        file => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
    }
}

fn close(file: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor was given up by its owner, and is closed once.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
