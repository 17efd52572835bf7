//! What is cached: pieces of immutable objects.

use std::sync::Arc;

use bytes::Bytes;

/// An immutable object of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Names the content: two objects with one id hold the same bytes, for ever.
    pub id: u128,
    /// Where the store has it.
    pub key: Arc<str>,
    /// The tag by which the store tells this content from any other under the same key; `None` where a key is written once.
    pub etag: Option<Arc<str>>,
}

/// A part of an object that decodes by itself, such as a frame of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins, in bytes from the object's start.
    pub offset: u64,
    /// How many stored bytes it has. One object has at most one piece at an offset, always of the same length.
    pub len: u32,
    /// How many bytes it decodes to; this much memory is set aside before it is fetched. Where it is `len`, the stored bytes are
    /// expected to be the decoded ones, so that decoding returns what it was given.
    pub weight: u32,
}

impl Piece {
    /// Where the piece ends, in bytes from the object's start.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.len))
    }

    /// Whether the stored bytes are what a reader wants.
    pub(crate) fn is_plain(&self) -> bool {
        self.len == self.weight
    }

    /// The memory, in bytes, that the piece takes while it is being fetched: as stored, and decoded if that is something else.
    pub(crate) fn cost(&self) -> u64 {
        let decoded = if self.is_plain() { 0 } else { u64::from(self.weight) };
        u64::from(self.len) + decoded
    }
}

/// What makes the stored bytes of a piece into the bytes a reader wants.
pub trait Decode: Send + Sync + 'static {
    /// Checks and decodes one piece: `index` is its place in the slice given with this decoder, `stored` its bytes.
    ///
    /// It may block the processor, not wait: it runs on the blocking pool, or in place for small pieces. It may return
    /// a part of `stored`; the cache makes a copy when that would keep much more than it holds.
    ///
    /// # Errors
    /// The reason why the bytes are not what was written. The cache then fetches them again before it reports it.
    fn decode(&self, index: usize, stored: Bytes) -> std::result::Result<Bytes, String>;
}

/// Names a piece in the cache: the object's id and the piece's offset.
pub(crate) type Key = (u128, u64);
