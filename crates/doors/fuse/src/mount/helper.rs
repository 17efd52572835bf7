//! Mounting through `fusermount3`, for everybody else.

use crate::session::{Device, WRITE_BYTES_MAX};
use crate::{Error, MountOptions, Result};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use std::fmt::Write;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[cfg(test)]
mod tests;

const PROGRAM: &str = "fusermount3";

/// Mounts, and returns the device that speaks for the mount.
pub(super) fn mount(dir: &Path, options: &MountOptions) -> Result<Device> {
    let list = list(options)?;
    let (ours, theirs) = UnixStream::pair().map_err(Error::io("making a socket for fusermount3"))?;
    let mut command = Command::new(PROGRAM);
    // The socket is its standard input: that it inherits, and nothing else has to be.
    command.arg("-o").arg(list).arg("--").arg(dir).env("_FUSE_COMMFD", "0").stdin(OwnedFd::from(theirs));
    let output = run(&mut command)?;
    // The command holds the other end of the socket: without it, a helper that sends nothing would be waited for.
    drop(command);
    if !output.status.success() {
        return Err(failure(dir, &output));
    }
    receive(&ours).map_err(Error::io("receiving the FUSE device from fusermount3")).map(Device::from)
}

/// Unmounts.
pub(super) fn unmount(dir: &Path, lazy: bool) -> Result<()> {
    let mut command = Command::new(PROGRAM);
    command.arg("-u").stdin(Stdio::null());
    if lazy {
        command.arg("-z");
    }
    let output = run(command.arg("--").arg(dir))?;
    if output.status.success() { Ok(()) } else { Err(failure(dir, &output)) }
}

fn run(command: &mut Command) -> Result<Output> {
    command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NoHelper,
        _ => Error::io("running fusermount3")(error),
    })
}

/// What stands after `-o`.
fn list(options: &MountOptions) -> Result<String> {
    let mut list =
        format!("fsname={},subtype=stoa,default_permissions,max_read={WRITE_BYTES_MAX}", options.checked_source()?);
    // `nosuid` and `nodev` it sets itself, and takes no contradiction.
    let set = [
        (options.allow_other.unwrap_or(false), "allow_other"),
        (options.read_only, "ro"),
        (options.noexec, "noexec"),
        (options.noatime, "noatime"),
    ];
    for (_, option) in set.iter().filter(|(wanted, _)| *wanted) {
        // Writing to a string can't fail.
        let _ = write!(list, ",{option}");
    }
    Ok(list)
}

/// What the words of the helper mean.
fn failure(dir: &Path, output: &Output) -> Error {
    let words = String::from_utf8_lossy(&output.stderr);
    let says = |text: &str| words.contains(text);
    if says("user_allow_other") {
        Error::AllowOther
    } else if says("/dev/fuse") && says("Permission denied") {
        Error::DeviceDenied
    } else if says("Permission denied") || says("not permitted") || says("no write access") {
        Error::NotPermitted(dir.to_owned())
    } else if says("/dev/fuse") || says("fuse device not found") {
        Error::NoFuse
    } else if says("busy") {
        Error::Busy(dir.to_owned())
    } else if says("not found in") || says("not mounted") || says("Invalid argument") {
        Error::NotMounted(dir.to_owned())
    } else {
        Error::Helper(words.trim().trim_start_matches("fusermount3: ").to_owned())
    }
}

/// Takes the descriptor that the helper sends.
fn receive(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut rights = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    rights.next().and_then(|mut fds| fds.next()).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
