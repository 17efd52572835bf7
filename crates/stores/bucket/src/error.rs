//! What can go wrong, and what a program is told.

use stoa_objects::Error as ObjectsError;
use stoa_vfs::Error as VfsError;

/// The result of an operation on a bucket as a whole.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a bucket could not be opened; operations on its files fail with [`stoa_vfs::Error`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option makes no sense.
    #[error("{0}")]
    Option(String),
}

/// What a failed request means to the program that caused it.
pub(crate) fn told(error: ObjectsError) -> VfsError {
    match error {
        ObjectsError::Denied { .. } => VfsError::Denied,
        ObjectsError::NotFound { .. } => VfsError::NotFound,
        // Only reads of one content have a condition.
        ObjectsError::Conflict { .. } => VfsError::Stale,
        ObjectsError::Corrupt { .. } => VfsError::Corrupt(error.to_string()),
        other => VfsError::Io(other.to_string()),
    }
}

/// What a failed read means to the program that caused it: an object that is gone, or is another, is not the one it opened.
pub(crate) fn told_of_read(error: &stoa_cache::Error) -> VfsError {
    match error {
        stoa_cache::Error::Store(cause) => match cause.downcast_ref::<ObjectsError>() {
            Some(ObjectsError::NotFound { .. }) => VfsError::Stale,
            Some(cause) => told(cause.clone()),
            None => VfsError::Io(error.to_string()),
        },
        stoa_cache::Error::Corrupt { .. } => VfsError::Corrupt(error.to_string()),
        other => VfsError::Io(other.to_string()),
    }
}
