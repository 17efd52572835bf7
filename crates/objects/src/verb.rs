//! The kinds of request a store is asked for.

use std::fmt;

/// A kind of request, as it is counted and as faults are planned for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A whole object written in one request.
    Put,
    /// An object, or ranges of it, read.
    Get,
    /// The size and tag of an object asked for.
    Head,
    /// One object deleted, also as one of many in a bulk request.
    Delete,
    /// A listing begun; its further pages are not counted apart.
    List,
    /// An object copied or renamed inside the store.
    Copy,
    /// A multipart upload begun, completed or aborted.
    Multipart,
    /// One part of a multipart upload.
    Part,
}

impl Verb {
    /// Every verb, in the order of their indexes.
    pub const ALL: [Self; 8] =
        [Self::Put, Self::Get, Self::Head, Self::Delete, Self::List, Self::Copy, Self::Multipart, Self::Part];

    /// A short name in lower case, fit for a metric.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Head => "head",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Copy => "copy",
            Self::Multipart => "multipart",
            Self::Part => "part",
        }
    }

    /// Whether a request of this kind changes the store.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Get | Self::Head | Self::List)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
