//! The records of the namespace, byte by byte: FORMAT.md, "Records". Pure: bytes in, values out.
//!
//! A key is a letter and big-endian numbers, so that the order of keys is the order of numbers. A value starts with the
//! version of its layout, but for the value of an extended attribute, which is stored as it is; numbers in values are little-endian.

mod bytes;
mod dentry;
mod extent;
mod inode;
mod key;
mod segment;

pub use bytes::{Reader, Writer};
pub use dentry::{Bucket, Dentry, SLOTS_MAX};
pub use extent::{codec_number, codec_of, decode_extent, encode_extent};
pub use inode::Inode;
pub use key::{Key, RecordKey};
pub use segment::{SegmentRecord, Superblock};

/// A stored value that makes no sense; the text says which part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

#[cfg(test)]
mod tests;
