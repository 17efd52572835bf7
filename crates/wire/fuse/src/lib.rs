//! The FUSE kernel protocol, versions 7.31 to 7.45, as values: bytes in, values out.
//!
//! The layouts are those of `include/uapi/linux/fuse.h` of Linux, in the byte order of the machine: the other end of the
//! device is always the same machine's kernel. Nothing here does any IO, and no sequence of bytes makes it panic.
//!
//! [`Header::parse`] and [`Op::parse`] read a request; [`reply`] and [`DirBuffer`] write answers, [`notify`] what a
//! server says unasked.

#![forbid(unsafe_code)]

pub mod flags;
pub mod notify;
pub mod opcode;
pub mod reply;

mod dirent;
mod error;
mod raw;
mod request;
mod types;

pub use dirent::DirBuffer;
pub use error::{Error, Result};
pub use request::{Create, Dialect, Forgets, Header, Init, Lock, Op, SetAttr};
pub use types::{Attr, Entry, InitReply, Open, StatFs, Time};

/// The lowest minor version of major version 7 that is understood.
pub const MINOR_MIN: u32 = 31;
/// The newest minor version of major version 7 that is understood.
pub const MINOR_MAX: u32 = 45;
/// The major version of the protocol.
pub const MAJOR: u32 = 7;
/// The longest request is this much longer than its data: headers and names.
pub const REQUEST_OVERHEAD: usize = 4096;
