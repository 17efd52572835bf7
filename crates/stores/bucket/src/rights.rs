//! Whether files may be written, found out before a program has written one.
//!
//! Nothing says it but the store, when something is written. So before the first file of a directory is made or opened to write, an
//! upload is begun under its name and given up. What was found out is remembered: a success counts for what is below its directory too,
//! until something is refused, which says that not all is alike here.

use crate::bucket::Bucket;
use parking_lot::Mutex;
use std::collections::HashSet;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Encryption, Headers};
use stoa_vfs::{Error, Result};

/// So many directories are remembered at most.
const REMEMBERED_MAX: usize = 10_000;

/// Where files may be written, as far as that was seen.
#[derive(Debug, Default)]
pub(crate) struct Rights {
    seen: Mutex<Seen>,
    /// Held by who asks: whoever comes meanwhile waits for the answer.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Seen {
    /// What the keys begin with that could be written.
    granted: HashSet<String>,
    /// Whether anything was refused.
    refused: bool,
}

impl Rights {
    /// Whether `key` can be written, by all that was seen.
    fn may_write(&self, key: &str) -> bool {
        let seen = self.seen.lock();
        let mut above = above(key);
        loop {
            if seen.granted.contains(above) {
                return true;
            }
            if above.is_empty() || seen.refused {
                return false;
            }
            above = self::above(above.strip_suffix('/').unwrap_or(above));
        }
    }

    /// An object was written.
    pub(crate) fn granted(&self, key: &str) {
        if self.may_write(key) {
            return;
        }
        let mut seen = self.seen.lock();
        if seen.granted.len() >= REMEMBERED_MAX {
            seen.granted.clear();
        }
        seen.granted.insert(above(key).to_owned());
    }

    /// Writing an object was refused.
    pub(crate) fn refused(&self) {
        let mut seen = self.seen.lock();
        seen.refused = true;
        seen.granted.clear();
    }
}

impl Bucket {
    /// Finds out whether an object may be written that will carry `headers`.
    ///
    /// # Errors
    /// [`Error::Denied`]; [`Error::Unsupported`] if the server does not know the customer's key that it is to be encrypted with. Any
    /// other failure is left to who writes.
    pub(crate) async fn check_rights(&self, key: &str, headers: &Headers) -> Result<()> {
        if self.rights.may_write(key) {
            return Ok(());
        }
        let _asking = self.rights.asking.lock().await;
        if self.rights.may_write(key) {
            return Ok(());
        }
        match self.s3.create_upload(key, headers).await {
            Ok(upload) => {
                self.s3.give_up_upload(&upload).await;
                self.rights.granted(key);
                Ok(())
            }
            Err(ObjectsError::Denied { .. }) => {
                self.rights.refused();
                Err(Error::Denied)
            }
            // What is written would be kept in the clear.
            Err(ObjectsError::Unsupported { .. }) if headers.storage.encryption == Some(Encryption::Customer) => {
                Err(Error::Unsupported("keys of one's own (SSE-C), which the server ignores"))
            }
            Err(_) => Ok(()),
        }
    }
}

/// What `key` begins with, up to its last slash.
fn above(key: &str) -> &str {
    key.get(..key.rfind('/').map_or(0, |slash| slash + 1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_counts_below_until_something_is_refused() {
        let rights = Rights::default();
        assert!(!rights.may_write("a/b/file"));
        rights.granted("a/file");
        assert!(rights.may_write("a/other") && rights.may_write("a/b/c/file"));
        assert!(!rights.may_write("file") && !rights.may_write("ab/file"));
        rights.refused();
        assert!(!rights.may_write("a/other"));
        rights.granted("a/file");
        assert!(rights.may_write("a/other") && !rights.may_write("a/b/file"));
        rights.granted("file");
        assert!(rights.may_write("other") && !rights.may_write("b/file"));
    }
}
