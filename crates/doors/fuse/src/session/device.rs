//! The device that requests come from and answers go to.

use super::answer::Payload;
use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::ioctl::{Setter, ioctl, opcode};
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use stoa_wire_fuse::reply;

/// `/dev/fuse`.
pub(crate) const PATH: &str = "/dev/fuse";

/// The most pieces that one writev(2) takes, less one for the header.
const PIECES_MAX: usize = libc::UIO_MAXIOV as usize - 1;

/// A channel to the kernel. An answer goes where the request came from.
#[derive(Debug)]
pub(crate) struct Device(File);

impl From<OwnedFd> for Device {
    fn from(fd: OwnedFd) -> Self {
        Self(fd.into())
    }
}

impl Device {
    /// Another channel to the same mount: a worker with its own does not contend with the others. Where the kernel gives none
    /// (it may not be opened again by this user), it is the same channel again.
    pub(crate) fn another(&self) -> io::Result<Self> {
        let cloned = File::options().read(true).write(true).open(PATH).and_then(|file| {
            // `FUSE_DEV_IOC_CLONE`: _IOR(229, 0, u32).
            const CLONE: rustix::ioctl::Opcode = opcode::read::<u32>(229, 0);
            // SAFETY: the kernel reads one u32, the number of a descriptor, from the pointer, and writes nothing.
            unsafe {
                let number = self.0.as_raw_fd().cast_unsigned();
                ioctl(&file, Setter::<CLONE, u32>::new(number))?;
            }
            Ok(file)
        });
        match cloned {
            Ok(file) => Ok(Self(file)),
            Err(error) => {
                tracing::debug!(%error, "cannot clone the FUSE device");
                self.0.try_clone().map(Self)
            }
        }
    }

    /// The same channel, for another thread.
    pub(crate) fn same(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Tells the kernel something unasked. Blocks until it was done.
    pub(crate) fn tell(&self, message: &[u8]) -> io::Result<()> {
        (&self.0).write(message).map(|_| ())
    }

    /// Reads one request into an empty buffer, whose capacity any request must fit in.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        rustix::io::read(&self.0, spare_capacity(buffer))?;
        Ok(())
    }

    /// Answers request `unique`: with `errno` if it is not 0, otherwise with `payload`.
    ///
    /// # Errors
    /// `ENOENT` if the request is no more: its caller got a fatal signal.
    pub(crate) fn answer(&self, unique: u64, errno: i32, payload: &Payload) -> io::Result<()> {
        match payload {
            Payload::Empty => self.send(unique, errno, &[]),
            Payload::Fixed(body) => self.send(unique, errno, &[IoSlice::new(body.as_bytes())]),
            Payload::Pieces(pieces) if pieces.len() <= PIECES_MAX => {
                let slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
                self.send(unique, errno, &slices)
            }
            Payload::Pieces(pieces) => {
                let joined = pieces.iter().map(Bytes::as_ref).collect::<Vec<_>>().concat();
                self.send(unique, errno, &[IoSlice::new(&joined)])
            }
        }
    }

    fn send(&self, unique: u64, errno: i32, body: &[IoSlice<'_>]) -> io::Result<()> {
        let len: usize = body.iter().map(|piece| piece.len()).sum();
        let header = reply::header(unique, errno, len).ok_or(io::ErrorKind::InvalidInput)?;
        let mut slices = Vec::with_capacity(body.len() + 1);
        slices.push(IoSlice::new(&header));
        slices.extend_from_slice(body);
        // The kernel takes an answer whole or not at all.
        (&self.0).write_vectored(&slices).map(|_| ())
    }
}
