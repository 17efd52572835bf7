//! Errors of the file system as errors of a store.

use object_store::path::Path;
use object_store::{Attributes, Error, TagSet};
use std::io;

pub(super) const STORE: &str = "directory";

/// The error of an operation on `key`.
pub(super) fn of(key: &Path, error: io::Error) -> Error {
    let path = key.to_string();
    match error.kind() {
        // A part of the key is a file: then there is no such object either.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NotFound { path, source: Box::new(error) },
        io::ErrorKind::AlreadyExists => Error::AlreadyExists { path, source: Box::new(error) },
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Error::PermissionDenied { path, source: Box::new(error) }
        }
        _ => Error::Generic { store: STORE, source: Box::new(error) },
    }
}

/// The error of writing to `key`, for which a missing directory is no plain answer.
pub(super) fn of_write(key: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::DirectoryNotEmpty => invalid(
            format!("'{key}' can't be an object: it, or a part of it, is already the other of file and directory"),
        ),
        io::ErrorKind::NotFound => Error::Generic { store: STORE, source: Box::new(error) },
        _ => of(key, error),
    }
}

/// A request that makes no sense, now or later.
pub(super) fn invalid(text: String) -> Error {
    Error::Generic { store: STORE, source: Box::new(io::Error::new(io::ErrorKind::InvalidInput, text)) }
}

pub(super) fn precondition(key: &Path, text: String) -> Error {
    Error::Precondition { path: key.to_string(), source: text.into() }
}

/// Refuses what a file can't keep.
pub(super) fn no_attributes(attributes: &Attributes, tags: &TagSet) -> Result<(), Error> {
    if attributes.is_empty() && tags.encoded().is_empty() {
        return Ok(());
    }
    Err(Error::NotImplemented { operation: "attributes of objects".to_owned(), implementer: STORE.to_owned() })
}
