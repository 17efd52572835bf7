//! The FUSE door: makes a [`stoa_vfs::Vfs`] a mounted directory.
//!
//! The transport is our own: [`stoa_wire_fuse`] says what requests look like, a session's worker threads read them from the
//! device, and each becomes a future over the store. One that is ready at once is answered by the thread that read it; another
//! goes to the runtime. The kernel checks permissions (`default_permissions`); stores see only who owns what is made.
//!
//! What is deliberately absent: locks (a mount that owns its volume alone leaves them to the kernel), ioctl, poll, bmap.
//! The kernel sends neither `sync(2)` nor a last request at umount(2) to file systems like this one: whoever mounted has to
//! call [`stoa_vfs::Vfs::sync`] once [`Mount::wait`] returned.

mod apart;
mod errno;
mod error;
mod mount;
mod ops;
mod options;
mod session;
mod stats;

pub use error::{Error, Result};
pub use mount::{Mount, Pages, unmount};
pub use options::MountOptions;
pub use stats::{OpCount, OpStats, Times};
