//! Why a mount could not be made, or unmade.

use std::io;
use std::path::PathBuf;

/// The result of mounting and unmounting.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a mount could not be made, or unmade. The texts are for the person who asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing at the mount point.
    #[error("{0}: no such directory; make it first (mkdir)")]
    Missing(PathBuf),
    /// The mount point is a file.
    #[error("{0}: not a directory")]
    NotDirectory(PathBuf),
    /// The mount point is one of a program that died.
    #[error("{0}: a dead mount is in the way; remove it with `umount -l`")]
    Dead(PathBuf),
    /// A volume is mounted there.
    #[error("{0}: already mounted")]
    AlreadyMounted(PathBuf),
    /// Nothing is mounted there.
    #[error("{0}: not mounted")]
    NotMounted(PathBuf),
    /// Files of the mount are open.
    #[error("{0}: in use; close its files or unmount lazily")]
    Busy(PathBuf),
    /// The kernel has no FUSE.
    #[error("/dev/fuse is missing: load the kernel module (modprobe fuse), or give the container the device")]
    NoFuse,
    /// This user, or this container, may not use the device.
    #[error(
        "/dev/fuse can't be opened: it needs mode 0666 for users other than root, and a container must be allowed to use it"
    )]
    DeviceDenied,
    /// This user may not mount, or not there.
    #[error("not permitted to mount at {0}")]
    NotPermitted(PathBuf),
    /// `fusermount3`, which mounts for users other than root, is not installed.
    #[error("fusermount3 is missing: install fuse3, or mount as root")]
    NoHelper,
    /// `/etc/fuse.conf` does not let users share their mounts.
    #[error("allow_other needs the line `user_allow_other` in /etc/fuse.conf")]
    AllowOther,
    /// `fusermount3` failed otherwise; its own words.
    #[error("fusermount3: {0}")]
    Helper(String),
    /// A value cannot stand in a mount option.
    #[error("{0:?} can't be a mount option")]
    Option(String),
    /// The kernel's protocol is not ours.
    #[error("the kernel's FUSE is too old: {0}")]
    Protocol(#[from] stoa_wire_fuse::Error),
    /// A system call failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// How it failed.
        source: io::Error,
    },
}

impl Error {
    /// Says what was tried when an error of the system came.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
