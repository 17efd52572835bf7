//! Copies trees between a bucket and a directory: plain objects on one side, plain files on the other.
//!
//! The directory is reached through POSIX. It may lie in a mounted volume or anywhere else, and nothing here knows which.
//! Names and attributes are those that the objects have in a mount of the bucket.
//!
//! **A file is there whole or not at all**: it is written under a name of its own ([`TEMPORARY`]) and renamed when its bytes
//! were verified; a large object is completed when all of its parts were.
//!
//! **A second run goes on**: what is there and the same is left. What is there and differs is replaced only if nothing of
//! anybody's is lost by it, or if that was asked for.

mod attributes;
mod export;
mod import;
mod jobs;
mod sum;
mod tally;
mod tree;

pub use export::Export;
pub use import::Import;
pub use tally::{Problem, Report, Tally};
pub use tree::TEMPORARY;

/// Files up to this long, in bytes, are moved with one request; longer ones in pieces of it, several at once.
const PIECE_BYTES: u64 = 8 << 20;

/// How to copy.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many files, and how many requests, at once. Each takes up to 8 MiB of memory.
    pub parallel: usize,
    /// Whether what is there and differs is replaced, whoever wrote it.
    pub overwrite: bool,
    /// Whether to copy nothing, and only tell what would be copied.
    pub dry_run: bool,
    /// Whether an object is copied though its bytes don't have the checksum that its server says.
    pub unverified: bool,
    /// Whether the server encrypts what export makes with the key of its user (SSE-C); otherwise it does as the bucket says. What is
    /// replaced stays encrypted as it was.
    pub customer_key: bool,
}

/// Why one file was not copied.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Objects(#[from] stoa_objects::Error),
    #[error("{0}")]
    File(#[from] std::io::Error),
    #[error("{0}")]
    Refused(String),
    /// Somebody wanted it to stop.
    #[error("interrupted")]
    Stopped,
}

impl From<rustix::io::Errno> for Error {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::File(errno.into())
    }
}

type Result<T> = std::result::Result<T, Error>;

/// Runs what waits for files on a thread that may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::Refused(format!("a thread ended early: {error}"))))
}
