//! Keys.

use super::Malformed;
use crate::SegmentId;
use ::bytes::{BufMut, Bytes, BytesMut};
use stoa_vfs::Ino;

/// An encoded key.
pub type Key = Bytes;

/// What a record is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordKey {
    /// `i` inode: attributes.
    Inode(Ino),
    /// `d` directory, hash: the entries whose names have that hash.
    Bucket(Ino, u64),
    /// `x` inode, name: the value of an extended attribute.
    Xattr(Ino, Bytes),
    /// `e` inode, end: an extent, by the file offset *after* it, so that the first key beyond an offset is the extent that covers it.
    Extent(Ino, u64),
    /// `o` inode: it has no name and waits to be reaped.
    Orphan(Ino),
    /// `s` segment: its size and how much of it is live.
    Segment(SegmentId),
    /// `r` segment, inode: the inode shares data of a segment whose directory does not name it.
    Shared(SegmentId, Ino),
    /// `t`: the superblock.
    Superblock,
}

impl RecordKey {
    /// The bytes of the key.
    #[must_use]
    pub fn encode(&self) -> Key {
        let mut key = BytesMut::with_capacity(24);
        match self {
            Self::Inode(ino) => put(&mut key, b'i', &[ino.0]),
            Self::Bucket(ino, hash) => put(&mut key, b'd', &[ino.0, *hash]),
            Self::Xattr(ino, name) => {
                put(&mut key, b'x', &[ino.0]);
                key.put_slice(name);
            }
            Self::Extent(ino, end) => put(&mut key, b'e', &[ino.0, *end]),
            Self::Orphan(ino) => put(&mut key, b'o', &[ino.0]),
            Self::Segment(segment) => put(&mut key, b's', &[segment.0]),
            Self::Shared(segment, ino) => put(&mut key, b'r', &[segment.0, ino.0]),
            Self::Superblock => key.put_u8(b't'),
        }
        key.freeze()
    }

    /// Reads a key.
    ///
    /// # Errors
    /// [`Malformed`] if it is none of these.
    pub fn decode(key: &Bytes) -> Result<Self, Malformed> {
        let number = |at: usize| {
            let bytes = key.get(at..at + 8).ok_or(Malformed("a key is cut short"))?;
            bytes.try_into().map(u64::from_be_bytes).map_err(|_| Malformed("a key is cut short"))
        };
        let exact = |len: usize| if key.len() == len { Ok(()) } else { Err(Malformed("a key has the wrong length")) };
        match key.first() {
            Some(b'i') => exact(9).and_then(|()| Ok(Self::Inode(Ino(number(1)?)))),
            Some(b'd') => exact(17).and_then(|()| Ok(Self::Bucket(Ino(number(1)?), number(9)?))),
            Some(b'x') => Ok(Self::Xattr(Ino(number(1)?), key.slice(9..))),
            Some(b'e') => exact(17).and_then(|()| Ok(Self::Extent(Ino(number(1)?), number(9)?))),
            Some(b'o') => exact(9).and_then(|()| Ok(Self::Orphan(Ino(number(1)?)))),
            Some(b's') => exact(9).and_then(|()| Ok(Self::Segment(SegmentId(number(1)?)))),
            Some(b'r') => exact(17).and_then(|()| Ok(Self::Shared(SegmentId(number(1)?), Ino(number(9)?)))),
            Some(b't') => exact(1).map(|()| Self::Superblock),
            _ => Err(Malformed("a key of an unknown kind")),
        }
    }

    /// The first key of a kind, and the first after all of that kind.
    #[must_use]
    pub fn all_of(kind: u8) -> (Key, Key) {
        (Bytes::copy_from_slice(&[kind]), Bytes::copy_from_slice(&[kind + 1]))
    }

    /// The first key of a kind about `number`, and the first after all of those.
    #[must_use]
    pub fn all_about(kind: u8, number: u64) -> (Key, Key) {
        let bound = |number: Option<u64>| {
            let mut key = BytesMut::with_capacity(9);
            match number {
                Some(number) => put(&mut key, kind, &[number]),
                None => key.put_u8(kind + 1),
            }
            key.freeze()
        };
        (bound(Some(number)), bound(number.checked_add(1)))
    }
}

fn put(key: &mut BytesMut, kind: u8, numbers: &[u64]) {
    key.put_u8(kind);
    for number in numbers {
        key.put_u64(*number);
    }
}
