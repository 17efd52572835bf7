//! Mounting by the system call, for the superuser.

use crate::apart::apart;
use crate::session::Device;
use crate::{Error, MountOptions, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// The kind of file system that the mount table shows.
pub(super) const KIND: &str = "fuse.stoa";

/// Mounts, and returns the device that speaks for the mount.
pub(super) fn mount(dir: &Path, options: &MountOptions) -> Result<Device> {
    let source = options.checked_source()?;
    let device = open_device()?;
    let data = data(&device, options)?;
    rustix::mount::mount(source, dir, KIND, flags(options), data.as_c_str()).map_err(|errno| match errno {
        Errno::PERM | Errno::ACCESS => Error::NotPermitted(dir.to_owned()),
        Errno::NODEV => Error::NoFuse,
        Errno::NOENT => Error::Missing(dir.to_owned()),
        Errno::NOTDIR => Error::NotDirectory(dir.to_owned()),
        _ => Error::io("mount")(errno.into()),
    })?;
    Ok(device.into())
}

fn open_device() -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(crate::session::DEVICE_PATH, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => Error::NoFuse,
        Errno::PERM | Errno::ACCESS => Error::DeviceDenied,
        _ => Error::io("opening /dev/fuse")(errno.into()),
    })
}

/// The options that the FUSE driver reads.
fn data(device: &OwnedFd, options: &MountOptions) -> Result<CString> {
    let uid = rustix::process::getuid().as_raw();
    let gid = rustix::process::getgid().as_raw();
    let mut data = format!(
        "fd={},rootmode=40000,user_id={uid},group_id={gid},default_permissions,max_read={}",
        device.as_raw_fd(),
        crate::session::WRITE_BYTES_MAX,
    );
    if options.allow_other.unwrap_or(true) {
        data.push_str(",allow_other");
    }
    CString::new(data).map_err(|error| Error::Option(error.to_string()))
}

fn flags(options: &MountOptions) -> MountFlags {
    let mut flags = MountFlags::empty();
    flags.set(MountFlags::RDONLY, options.read_only);
    flags.set(MountFlags::NOSUID, !options.suid);
    flags.set(MountFlags::NODEV, !options.dev);
    flags.set(MountFlags::NOEXEC, options.noexec);
    flags.set(MountFlags::NOATIME, options.noatime);
    flags
}

/// Unmounts.
pub(super) fn unmount(dir: &Path, lazy: bool) -> Result<()> {
    let flags = if lazy { UnmountFlags::DETACH } else { UnmountFlags::empty() } | UnmountFlags::NOFOLLOW;
    let path = dir.to_owned();
    let unmounted = apart(move || rustix::mount::unmount(path, flags).map_err(io::Error::from));
    unmounted.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::BUSY) => Error::Busy(dir.to_owned()),
        Some(Errno::INVAL) => Error::NotMounted(dir.to_owned()),
        Some(Errno::NOENT) => Error::Missing(dir.to_owned()),
        Some(Errno::PERM | Errno::ACCESS) => Error::NotPermitted(dir.to_owned()),
        _ => Error::io("umount")(error),
    })
}
