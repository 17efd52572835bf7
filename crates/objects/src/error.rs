//! What can go wrong with a store, said so that a person knows what to do.

use crate::classify::{Class, classify};
use crate::redact;

/// The result of an operation on a store.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a store could not be used. No variant ever carries a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text does not name a location.
    #[error("'{url}' is not a location: {reason}")]
    BadUrl {
        /// What was given, without what may be secret.
        url: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// An option makes no sense, or a file it names can't be used.
    #[error("{0}")]
    BadOption(String),
    /// No credentials were found.
    #[error("no credentials for {store}; tried {tried}")]
    NoCredentials {
        /// The location they are for.
        store: String,
        /// Where they were looked for, and what each place said.
        tried: String,
    },
    /// The store does not accept the credentials.
    #[error(
        "{op}: the store refuses the credentials ({detail}): check the access key, the secret key and this machine's clock"
    )]
    WrongCredentials {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// The credentials are good but don't allow this.
    #[error("{op}: permission denied ({detail})")]
    Denied {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// The bucket does not exist.
    #[error("{op}: the bucket does not exist ({detail}): create it first, or check its name and the endpoint")]
    MissingBucket {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// No connection can be made.
    #[error("{op}: cannot reach {endpoint} ({detail})")]
    Unreachable {
        /// What was tried.
        op: String,
        /// Scheme, host and port.
        endpoint: String,
        /// What the connection said.
        detail: String,
    },
    /// The server's certificate is not trusted, or TLS fails otherwise.
    #[error("{op}: TLS with {endpoint} failed ({detail})")]
    Tls {
        /// What was tried.
        op: String,
        /// Scheme, host and port.
        endpoint: String,
        /// What the handshake said.
        detail: String,
    },
    /// The bucket is elsewhere.
    #[error("{op}: the bucket is in another region or behind another endpoint ({detail}): set the region")]
    WrongRegion {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// The store can't do what is needed; the text names it.
    #[error("{op}: {detail}")]
    Unsupported {
        /// What was tried.
        op: String,
        /// What is missing.
        detail: String,
    },
    /// There is no such object.
    #[error("{op}: no such object")]
    NotFound {
        /// What was tried.
        op: String,
    },
    /// There is no such multipart upload: it was completed or aborted, or the bucket's rules removed it.
    #[error("{op}: no such upload")]
    NoSuchUpload {
        /// What was tried.
        op: String,
    },
    /// The range lies outside of the object.
    #[error("{op}: the range lies outside of the object ({detail})")]
    InvalidRange {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// A create met an object, or a condition did not hold: someone else was first.
    #[error("{op}: someone else was first ({detail})")]
    Conflict {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// The device or quota behind the store is full.
    #[error("{op}: no space left in the store ({detail})")]
    Full {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// The store does not answer, or says that it is overloaded: try again later.
    #[error("{op}: the store does not work at the moment ({detail})")]
    Unavailable {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
    /// The store gave back something other than what was put.
    #[error("{op}: {detail}")]
    Corrupt {
        /// What was tried.
        op: String,
        /// What differs.
        detail: String,
    },
    /// The store refuses the request as such.
    #[error("{op}: the store refuses the request ({detail})")]
    Rejected {
        /// What was tried.
        op: String,
        /// What the store said.
        detail: String,
    },
}

impl Error {
    /// What `error`, which `op` met, means. `op` says what was tried, in words, such as `reading volume.json`.
    #[must_use]
    pub fn from_store(op: impl Into<String>, error: &object_store::Error) -> Self {
        let op = op.into();
        let text = redact::chain(error);
        let endpoint = || redact::endpoint(&text).unwrap_or_else(|| "the endpoint".to_owned());
        Self::of_class(classify(error), op, redact::short(&text), endpoint)
    }

    /// The error of a class.
    pub(crate) fn of_class(class: Class, op: String, detail: String, endpoint: impl FnOnce() -> String) -> Self {
        match class {
            Class::NotFound => Self::NotFound { op },
            Class::UploadGone => Self::NoSuchUpload { op },
            Class::InvalidRange => Self::InvalidRange { op, detail },
            Class::Corrupt => Self::Corrupt { op, detail },
            Class::BucketGone => Self::MissingBucket { op, detail },
            Class::Exists | Class::Precondition | Class::NotModified => Self::Conflict { op, detail },
            Class::Denied => Self::Denied { op, detail },
            Class::Credentials => Self::WrongCredentials { op, detail },
            Class::WrongRegion => Self::WrongRegion { op, detail },
            Class::Unreachable => Self::Unreachable { op, endpoint: endpoint(), detail },
            Class::Tls => Self::Tls { op, endpoint: endpoint(), detail },
            Class::Full => Self::Full { op, detail },
            Class::Unsupported => Self::Unsupported { op, detail: format!("the store cannot do this ({detail})") },
            Class::Rejected => Self::Rejected { op, detail },
            Class::Transient | Class::Killed => Self::Unavailable { op, detail },
        }
    }

    /// Whether trying again later, changing nothing, may work.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Unreachable { .. })
    }

    /// Whether it says that there is no such object.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}
