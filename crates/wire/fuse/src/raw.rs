//! The structures of `fuse.h`, field by field.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

mod inbound;
mod outbound;

pub(crate) use inbound::*;
pub(crate) use outbound::*;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct InHeader {
    pub(crate) len: u32,
    pub(crate) opcode: u32,
    pub(crate) unique: u64,
    pub(crate) nodeid: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) pid: u32,
    /// In units of 8 bytes, at the end of the request.
    pub(crate) total_extlen: u16,
    pub(crate) padding: u16,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct OutHeader {
    pub(crate) len: u32,
    pub(crate) error: i32,
    pub(crate) unique: u64,
}
