//! What can go wrong with a volume as a whole; operations on its files fail with [`stoa_vfs::Error`].

/// The result of an operation on a volume.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a volume could not be formatted, opened, checked or closed. The texts are for the person at the keyboard.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no volume at this place.
    #[error("there is no Stoa volume at {0}; `stoa format` makes one, `stoa mount --create` makes and mounts one")]
    NotAVolume(String),
    /// There is a volume already.
    #[error("there is a Stoa volume at {0} already; it was not touched")]
    Exists(String),
    /// The place holds other things, so that a volume made there could not be told from them.
    #[error("{0} is not empty and holds no Stoa volume; choose an empty directory or another prefix")]
    NotEmpty(String),
    /// The volume was made by a newer Stoa.
    #[error("the volume has format version {found}, and this stoa reads versions up to {supported}; use a newer stoa")]
    Newer {
        /// The version found.
        found: u32,
        /// The newest version this program reads.
        supported: u32,
    },
    /// Another mount owns the volume.
    #[error(
        "the volume is mounted by {0}; unmount it there, or, if that mount is gone for good, use --take-over, which shuts it out"
    )]
    Owned(String),
    /// A newer owner shut this mount out.
    #[error("this mount was fenced: {0}")]
    Fenced(String),
    /// The object store lacks something that a volume needs.
    #[error("the object store can't hold a volume: {0}")]
    Store(#[source] stoa_objects::Error),
    /// Stored bytes are not what was written; the text names the object.
    #[error("corrupt: {0}")]
    Corrupt(String),
    /// Anything else; the text says what, and to which object.
    #[error("{0}")]
    Io(String),
}

impl Error {
    /// What a failed request to the object store means, while `doing` something.
    pub(crate) fn store(doing: &str, error: &object_store::Error) -> Self {
        Self::Io(format!("could not {doing}: {error}"))
    }
}

impl From<stoa_meta::Error> for Error {
    fn from(error: stoa_meta::Error) -> Self {
        match error {
            stoa_meta::Error::Fenced => Self::Fenced(error.to_string()),
            stoa_meta::Error::Corrupt(what) => Self::Corrupt(what),
            stoa_meta::Error::Missing(_) => Self::Corrupt(error.to_string()),
            stoa_meta::Error::File(error) => Self::Io(error.to_string()),
            stoa_meta::Error::Refused(_) => Self::Io(error.to_string()),
            stoa_meta::Error::Engine(what) => Self::Io(what),
        }
    }
}
