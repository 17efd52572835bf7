//! Moves bytes from socket to socket inside the kernel.

use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, fcntl_setpipe_size, pipe, splice};
use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;

/// How much a pipe holds, and is moved at a time.
const PIPE_BYTES: usize = 1 << 20;

/// A pipe that bytes pass through; empty between calls.
#[derive(Debug)]
pub(super) struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    pub(super) fn new() -> io::Result<Self> {
        let (read, write) = pipe()?;
        // Smaller is slower, not wrong.
        let _ = fcntl_setpipe_size(&write, PIPE_BYTES);
        Ok(Self { read, write })
    }

    /// Moves everything up to the end of `from`, and tells `moved` how much, as it goes.
    pub(super) fn all(&self, from: &TcpStream, to: &TcpStream, moved: impl Fn(u64)) -> io::Result<()> {
        loop {
            match self.some(PIPE_BYTES, from, to)? {
                0 => return Ok(()),
                len => moved(len as u64),
            }
        }
    }

    /// Moves `len` bytes.
    pub(super) fn exactly(&self, len: u64, from: &TcpStream, to: &TcpStream) -> io::Result<()> {
        let mut left = len;
        while left > 0 {
            let moved = self.some(usize::try_from(left).unwrap_or(PIPE_BYTES).min(PIPE_BYTES), from, to)?;
            if moved == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= moved as u64;
        }
        Ok(())
    }

    fn some(&self, most: usize, from: &TcpStream, to: &TcpStream) -> io::Result<usize> {
        let len = again(|| splice(from, None, &self.write, None, most, SpliceFlags::MOVE))?;
        let mut left = len;
        while left > 0 {
            left -= again(|| splice(&self.read, None, to, None, left, SpliceFlags::MOVE))?;
        }
        Ok(len)
    }
}

fn again(call: impl Fn() -> Result<usize, Errno>) -> io::Result<usize> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}
