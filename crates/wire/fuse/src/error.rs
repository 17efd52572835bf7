//! What can be wrong with a request.

/// The result of parsing.
pub type Result<T> = std::result::Result<T, Error>;

/// Why bytes are not a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It ends before what its operation needs.
    #[error("the request is truncated")]
    Truncated,
    /// Its header says another length than it has.
    #[error("the header says {said} bytes, there are {have}")]
    Length {
        /// What the header says.
        said: u32,
        /// The bytes there are.
        have: usize,
    },
    /// A name in it has no end.
    #[error("a name is not terminated")]
    Name,
    /// The kernel speaks another major version, or an older minor one than [`crate::MINOR_MIN`].
    #[error("FUSE protocol {major}.{minor} is not supported")]
    Version {
        /// The kernel's major version.
        major: u32,
        /// The kernel's minor version.
        minor: u32,
    },
}
