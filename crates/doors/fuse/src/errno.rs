//! The one place that turns what went wrong into the errno that the kernel is told.

use stoa_vfs::Error;
use stoa_wire_fuse::{Header, opcode};

/// Why a request is not answered as asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The store said so.
    Store(Error),
    /// The door itself says so: an errno.
    Door(i32),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl Failure {
    /// The kernel need not ask for this kind of operation again.
    pub(crate) const UNIMPLEMENTED: Self = Self::Door(libc::ENOSYS);
    /// The caller got a signal.
    pub(crate) const INTERRUPTED: Self = Self::Door(libc::EINTR);

    /// The errno, between 1 and 511, which is all the kernel takes. What is broken gets a line in the log.
    pub(crate) fn errno(&self, header: &Header) -> i32 {
        match self {
            Self::Store(error) => {
                if error.is_fault() {
                    tracing::error!(op = opcode::name(header.opcode), ino = header.nodeid, %error, "request failed");
                }
                error.errno()
            }
            Self::Door(errno) => *errno,
        }
    }
}
