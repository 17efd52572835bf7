//! What can go wrong in the namespace.

/// The result of an operation on the namespace.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A plain answer of the file system: no such name, not empty, and so on.
    #[error(transparent)]
    File(#[from] stoa_vfs::Error),
    /// A newer owner holds the namespace: final for this one.
    #[error("a newer mount owns the volume")]
    Fenced,
    /// Stored records are not what was written.
    #[error("corrupt metadata: {0}")]
    Corrupt(String),
    /// An object that holds records is not there, after a wait for it. Nothing is known of what it holds, and it may come back: a disk
    /// that is mounted again, a version that is restored.
    #[error("{0} is missing from the store")]
    Missing(String),
    /// The store refuses what has to get there, or to be read; the text says what, and why. It is tried again all the same: nothing
    /// is lost yet, and what was asked for may still come about.
    #[error("the store refuses metadata: {0}")]
    Refused(String),
    /// The engine failed in a way that does not pass.
    #[error("metadata engine: {0}")]
    Engine(String),
}

impl From<Error> for stoa_vfs::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::File(error) => error,
            Error::Fenced => Self::Fenced,
            Error::Corrupt(what) => Self::Corrupt(what),
            Error::Missing(_) => Self::Corrupt(error.to_string()),
            Error::Refused(_) => Self::Io(error.to_string()),
            Error::Engine(what) => Self::Io(what),
        }
    }
}
