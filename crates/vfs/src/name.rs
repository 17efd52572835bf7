//! Names of directory entries.

use crate::{Error, NAME_MAX, Result};
use bytes::Bytes;
use std::fmt;

/// The name of one directory entry: 1 to 255 bytes of any kind but `/` and NUL, and neither `.` nor `..`.
///
/// Cheap to clone. Names are bytes, not text: nothing is folded or normalised.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Bytes);

impl Name {
    /// Checks `bytes` and takes them as a name.
    ///
    /// # Errors
    /// [`Error::NameTooLong`] over [`NAME_MAX`] bytes; [`Error::Invalid`] for an empty name, `.`, `..`, or a name with `/` or NUL.
    pub fn new(bytes: impl Into<Bytes>) -> Result<Self> {
        let bytes = bytes.into();
        if bytes.len() > NAME_MAX {
            return Err(Error::NameTooLong);
        }
        if bytes.is_empty() || bytes.as_ref() == b"." || bytes.as_ref() == b".." {
            return Err(Error::Invalid("name is empty, '.' or '..'"));
        }
        if bytes.iter().any(|&byte| byte == b'/' || byte == 0) {
            return Err(Error::Invalid("name contains '/' or NUL"));
        }
        Ok(Self(bytes))
    }

    /// The bytes of the name.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", String::from_utf8_lossy(&self.0))
    }
}
