//! What a server tells the kernel unasked: whole messages, with their header.

use crate::raw::{DeleteOut, InvalEntryOut, InvalInodeOut, OutHeader};
use zerocopy::{Immutable, IntoBytes};

#[cfg(test)]
mod tests;

const INVAL_INODE: i32 = 2;
const INVAL_ENTRY: i32 = 3;
const DELETE: i32 = 6;

/// Cached attributes of inode `ino` are void, and its pages from `offset` on: `len` bytes of them, all with 0, none with a
/// negative offset.
#[must_use]
pub fn invalidate_inode(ino: u64, offset: i64, len: i64) -> Vec<u8> {
    message(INVAL_INODE, &InvalInodeOut { ino, off: offset, len }, None)
}

/// What is cached for `name` in `parent` is void.
#[must_use]
pub fn invalidate_entry(parent: u64, name: &[u8]) -> Vec<u8> {
    let namelen = u32::try_from(name.len()).unwrap_or(u32::MAX);
    message(INVAL_ENTRY, &InvalEntryOut { parent, namelen, flags: 0 }, Some(name))
}

/// `name` in `parent`, which stood for `child`, was removed: like [`invalidate_entry`], and who watches it is told.
#[must_use]
pub fn delete(parent: u64, child: u64, name: &[u8]) -> Vec<u8> {
    let namelen = u32::try_from(name.len()).unwrap_or(u32::MAX);
    message(DELETE, &DeleteOut { parent, child, namelen, padding: 0 }, Some(name))
}

fn message(code: i32, body: &(impl IntoBytes + Immutable), name: Option<&[u8]>) -> Vec<u8> {
    let name_bytes = name.map_or(0, |name| name.len() + 1);
    let total = size_of::<OutHeader>() + size_of_val(body) + name_bytes;
    // A message of more than 4 GiB is none the kernel takes; it refuses the wrong length.
    let len = u32::try_from(total).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(total);
    bytes.extend_from_slice(OutHeader { len, error: code, unique: 0 }.as_bytes());
    bytes.extend_from_slice(body.as_bytes());
    if let Some(name) = name {
        bytes.extend_from_slice(name);
        bytes.push(0);
    }
    bytes
}
