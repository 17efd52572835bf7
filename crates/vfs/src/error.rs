//! What can go wrong with a file-system operation, and the one place that turns it into an errno.

/// The result of a file-system operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file-system operation was not done.
///
/// The variants say what a caller can do about it; [`Error::errno`] is the number a program sees. The frequent ones
/// carry no text, so that a negative lookup allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No such file or directory (`ENOENT`).
    #[error("no such file or directory")]
    NotFound,
    /// The name is taken (`EEXIST`).
    #[error("file exists")]
    Exists,
    /// A directory was needed (`ENOTDIR`).
    #[error("not a directory")]
    NotDirectory,
    /// A directory was given where it can't be used (`EISDIR`).
    #[error("is a directory")]
    IsDirectory,
    /// The directory has entries (`ENOTEMPTY`).
    #[error("directory not empty")]
    NotEmpty,
    /// The mode or an ACL refuses it (`EACCES`).
    #[error("permission denied")]
    Denied,
    /// Only an owner or a privileged caller may do it (`EPERM`).
    #[error("operation not permitted")]
    NotPermitted,
    /// An argument makes no sense (`EINVAL`); the text names it.
    #[error("invalid argument: {0}")]
    Invalid(&'static str),
    /// The name is longer than [`crate::NAME_MAX`] bytes, or a symlink target is too long (`ENAMETOOLONG`).
    #[error("name too long")]
    NameTooLong,
    /// The inode has as many links as it can count (`EMLINK`).
    #[error("too many links")]
    TooManyLinks,
    /// The inode number names nothing any more (`ESTALE`).
    #[error("stale file handle")]
    Stale,
    /// The handle is not open (`EBADF`).
    #[error("bad file handle")]
    BadHandle,
    /// No such extended attribute (`ENODATA`).
    #[error("no such attribute")]
    NoAttribute,
    /// There is no data, or no hole, at or after the offset (`ENXIO`).
    #[error("no such offset")]
    NoOffset,
    /// The offset or size is beyond what a file can have (`EFBIG`).
    #[error("file too large")]
    TooLarge,
    /// The value does not fit (`E2BIG` for an attribute value).
    #[error("value too large")]
    ValueTooLarge,
    /// There is no room: a quota, a budget that can't be waited for, or the device behind the store (`ENOSPC`).
    #[error("no space left")]
    NoSpace,
    /// The file system takes no writes (`EROFS`).
    #[error("read-only file system")]
    ReadOnly,
    /// This store cannot do it at all (`ENOTSUP`); the text says what.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// This mount lost its right to write to a newer owner (`EROFS`). Final until it is mounted again.
    #[error("this mount was fenced: a newer mount owns the volume")]
    Fenced,
    /// Stored bytes are not what was written (`EIO`); the text names the object.
    #[error("corrupt data: {0}")]
    Corrupt(String),
    /// The store failed in a way that does not pass (`EIO`); the text says how.
    #[error("input/output error: {0}")]
    Io(String),
}

impl Error {
    /// The errno of Linux that says this to a program.
    #[must_use]
    pub fn errno(&self) -> i32 {
        match self {
            Self::NotFound => libc::ENOENT,
            Self::Exists => libc::EEXIST,
            Self::NotDirectory => libc::ENOTDIR,
            Self::IsDirectory => libc::EISDIR,
            Self::NotEmpty => libc::ENOTEMPTY,
            Self::Denied => libc::EACCES,
            Self::NotPermitted => libc::EPERM,
            Self::Invalid(_) => libc::EINVAL,
            Self::NameTooLong => libc::ENAMETOOLONG,
            Self::TooManyLinks => libc::EMLINK,
            Self::Stale => libc::ESTALE,
            Self::BadHandle => libc::EBADF,
            Self::NoAttribute => libc::ENODATA,
            Self::NoOffset => libc::ENXIO,
            Self::TooLarge => libc::EFBIG,
            Self::ValueTooLarge => libc::E2BIG,
            Self::NoSpace => libc::ENOSPC,
            Self::ReadOnly | Self::Fenced => libc::EROFS,
            Self::Unsupported(_) => libc::ENOTSUP,
            Self::Corrupt(_) | Self::Io(_) => libc::EIO,
        }
    }

    /// Whether this says that something is broken (worth a line in the log), rather than a plain answer.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Corrupt(_) | Self::Io(_) | Self::Fenced)
    }
}
