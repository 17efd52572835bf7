//! The first request, in which kernel and door agree on what they do.

use super::Device;
use super::answer::Payload;
use crate::{Error, MountOptions, Result};
use std::io;
use stoa_vfs::CachePolicy;
use stoa_wire_fuse::flags::init as flag;
use stoa_wire_fuse::{Dialect, Header, Init, InitReply, Op, opcode, reply};

#[cfg(test)]
mod tests;

/// The longest read or write, in bytes: the most that kernels let all users have.
pub(crate) const WRITE_BYTES_MAX: u32 = 1 << 20;

/// The longest read or write in pages of 4096 bytes.
const PAGES_MAX: u16 = 256;

/// What is wanted of any kernel that has it.
const WANTED: u64 = flag::ASYNC_READ
    | flag::ATOMIC_O_TRUNC
    | flag::EXPORT_SUPPORT
    | flag::BIG_WRITES
    | flag::DONT_MASK
    | flag::DO_READDIRPLUS
    | flag::READDIRPLUS_AUTO
    | flag::ASYNC_DIO
    | flag::PARALLEL_DIROPS
    | flag::ABORT_ERROR
    | flag::MAX_PAGES
    // An inode's target never changes.
    | flag::CACHE_SYMLINKS
    | flag::HANDLE_KILLPRIV_V2
    | flag::SETXATTR_EXT
    | flag::INIT_EXT
    | flag::ALLOW_IDMAP;

/// What was agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// How requests look.
    pub(crate) dialect: Dialect,
    /// Directories need no opening: the kernel caches their listings by itself.
    pub(crate) no_opendir: bool,
}

/// What the store has to say about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store {
    pub(crate) policy: CachePolicy,
    /// See [`stoa_vfs::Vfs::has_acls`]. Without, the kernel takes the mode for all there is, and `ENOTSUP` for an answer.
    pub(crate) acls: bool,
}

/// What is answered to `offer`.
pub(crate) fn negotiate(offer: &Init, store: Store, options: &MountOptions) -> (Agreement, InitReply) {
    let policy = store.policy;
    let caching = match (policy.content_stays, policy.exclusive) {
        (true, true) if !policy.read_only && !options.read_only => flag::WRITEBACK_CACHE | flag::EXPLICIT_INVAL_DATA,
        (true, _) => flag::EXPLICIT_INVAL_DATA,
        (false, _) => flag::AUTO_INVAL_DATA,
    };
    let acls = if store.acls { flag::POSIX_ACL } else { 0 };
    let flags = (WANTED | caching | acls) & offer.flags;
    let has = |bit| flags & bit != 0;
    let agreement = Agreement {
        dialect: Dialect { setxattr_ext: has(flag::SETXATTR_EXT) },
        no_opendir: policy.exclusive && offer.flags & flag::NO_OPENDIR_SUPPORT != 0,
    };
    let reply = InitReply {
        minor: offer.minor,
        flags,
        readahead_bytes_max: options.readahead_bytes.max(offer.readahead_bytes_max),
        write_bytes_max: WRITE_BYTES_MAX,
        pages_max: PAGES_MAX,
        background_max: options.background_max,
        // Three quarters, as the kernel itself would choose.
        congestion_threshold: options.background_max / 4 * 3,
    };
    (agreement, reply)
}

/// Waits for the first request, which the kernel sends as soon as it has mounted, and answers it.
///
/// # Errors
/// [`Error::Protocol`] for a kernel that is too old; [`Error::Io`].
pub(crate) fn handshake(device: &Device, store: Store, options: &MountOptions) -> Result<Agreement> {
    let mut buffer = Vec::with_capacity(WRITE_BYTES_MAX as usize + stoa_wire_fuse::REQUEST_OVERHEAD);
    loop {
        match device.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other.map_err(Error::io("reading the first FUSE request"))?,
        }
    }
    let (header, body) = Header::parse(&buffer)?;
    let answer = |errno, payload: &Payload| {
        device.answer(header.unique, errno, payload).map_err(Error::io("answering the first FUSE request"))
    };
    match Op::parse(&header, body, Dialect::default()) {
        Ok(Op::Init(offer)) => {
            let (agreement, reply) = negotiate(&offer, store, options);
            answer(0, &Payload::Fixed(reply::init(&reply)))?;
            tracing::debug!(minor = offer.minor, offered = offer.flags, agreed = reply.flags, "FUSE session");
            Ok(agreement)
        }
        Ok(_) => {
            let what = opcode::name(header.opcode);
            Err(Error::io("waiting for INIT")(io::Error::other(format!("the kernel sent {what}"))))
        }
        Err(error) => {
            answer(libc::EPROTO, &Payload::Empty)?;
            Err(error.into())
        }
    }
}
