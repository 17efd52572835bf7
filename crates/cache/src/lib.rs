//! The cache of Stoa: pieces of immutable objects, in memory and on a local disk, and when to read ahead.
//!
//! A [`Piece`] is the smallest thing a reader asks for: some stored bytes of an object that decode by themselves. The
//! cache finds it in memory (decoded), on disk (as stored), or in the object store, where it asks for many pieces with
//! one ranged GET. Concurrent readers of one piece share one fetch. Objects never change, so nothing here is ever
//! invalidated, and losing all of it loses nothing.
//!
//! Memory: [`Options::memory_bytes_max`] is a ceiling on what is kept and what is being fetched, together. What
//! [`Cache::read`] has returned belongs to the caller. The crate knows nothing of files; [`ReadAhead`] is policy alone.

mod body;
mod budget;
mod cache;
mod disk;
mod error;
mod fetch;
mod flight;
mod memory;
mod object;
mod options;
mod plan;
mod read_ahead;
mod source;
mod usage;

pub use budget::{Budget, Reservation};
pub use cache::Cache;
pub use error::{Error, Result};
pub use object::{Decode, Object, Piece};
pub use options::{DiskOptions, Options};
pub use read_ahead::ReadAhead;
pub use source::Source;
pub use usage::{DiskState, Usage};

#[cfg(test)]
mod tests;
