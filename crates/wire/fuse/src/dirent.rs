//! Listings of directories.

use crate::Entry;
use crate::raw::Dirent;
use crate::reply::entry_out;
use zerocopy::IntoBytes;

#[cfg(test)]
mod tests;

/// Records start at multiples of this.
const ALIGN: usize = 8;

/// The bytes of the entry that stands before a record of READDIRPLUS.
const PLUS_BYTES: usize = 128;

/// The answer to READDIR or READDIRPLUS while it is filled: never longer than the kernel asked for.
#[derive(Debug)]
pub struct DirBuffer {
    bytes: Vec<u8>,
    limit: usize,
}

impl DirBuffer {
    /// An empty one that takes up to `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { bytes: Vec::with_capacity(limit), limit }
    }

    /// How many more bytes it takes.
    #[must_use]
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.bytes.len())
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes that one record with a name of `name_len` bytes takes.
    #[must_use]
    pub const fn record_bytes(name_len: usize, plus: bool) -> usize {
        let head = if plus { PLUS_BYTES } else { 0 };
        head + (size_of::<Dirent>() + name_len).next_multiple_of(ALIGN)
    }

    /// Adds a record of READDIR: `cookie` is the place after it, `mode` has the `S_IFMT` bits. Returns whether there was room.
    #[must_use]
    pub fn push(&mut self, ino: u64, cookie: u64, mode: u32, name: &[u8]) -> bool {
        if Self::record_bytes(name.len(), false) > self.room() {
            return false;
        }
        self.record(ino, cookie, mode, name)
    }

    /// Adds a record of READDIRPLUS. An entry with node id 0 says nothing about attributes, and is no reference.
    #[must_use]
    pub fn push_plus(&mut self, entry: &Entry, ino: u64, cookie: u64, mode: u32, name: &[u8]) -> bool {
        if Self::record_bytes(name.len(), true) > self.room() {
            return false;
        }
        self.bytes.extend_from_slice(entry_out(entry).as_bytes());
        self.record(ino, cookie, mode, name)
    }

    fn record(&mut self, ino: u64, cookie: u64, mode: u32, name: &[u8]) -> bool {
        let Ok(namelen) = u32::try_from(name.len()) else { return false };
        // `DT_*` is the kind in the bits of a mode.
        let kind = (mode & 0o170_000) >> 12;
        self.bytes.extend_from_slice(Dirent { ino, off: cookie, namelen, kind }.as_bytes());
        self.bytes.extend_from_slice(name);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGN), 0);
        true
    }

    /// The answer's body.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
