//! Why a piece could not be had.

use std::sync::Arc;

/// The result of asking the cache.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the cache could not give what was asked. It can be cloned, because all readers of a piece are told the same.
///
/// No error is remembered: asking again tries again.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The object store refused or failed; whether another try helps is for who knows the store to say: it is the error of
    /// the [`crate::Source`].
    #[error("object store: {0}")]
    Store(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The store answered a ranged GET with fewer bytes than asked for, or with other ones: the object is truncated, or
    /// the connection was cut. Another try may help.
    #[error("{key}: the store's answer ends at byte {got}, and byte {wanted} was needed")]
    Short {
        /// The object.
        key: Arc<str>,
        /// Where the piece that was wanted ends, in bytes from the object's start.
        wanted: u64,
        /// Where the answer ended.
        got: u64,
    },
    /// The store's bytes are not what was written, also when fetched a second time. Final.
    #[error("{key}: corrupt at byte {offset}: {reason}")]
    Corrupt {
        /// The object.
        key: Arc<str>,
        /// Where the piece begins, in bytes from the object's start.
        offset: u64,
        /// What the decoder said.
        reason: String,
    },
    /// The task that fetched the piece ended without an answer: the decoder panicked or the runtime is being shut down.
    #[error("the fetch ended without an answer")]
    Interrupted,
    /// An option makes no sense; the text names it.
    #[error("invalid cache option: {0}")]
    Invalid(&'static str),
}

impl Error {
    /// What a source failed with.
    pub fn store(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Store(Arc::new(error))
    }
}
