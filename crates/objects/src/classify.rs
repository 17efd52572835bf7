//! What an error of a provider means: the one place that looks into it.
//!
//! `object_store` keeps the HTTP status of an answer in a private type; what is left of it is its text. The texts
//! matched here are those of the pinned version, and the conformance tests against the S3 test server guard them.

use crate::fault::Killed;
use crate::redact;
use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use std::io;

/// What an error means for the one who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// There is no such object.
    NotFound,
    /// There is no such bucket (any more).
    BucketGone,
    /// A create met an object.
    Exists,
    /// A condition on the tag did not hold.
    Precondition,
    /// The range lies outside of the object.
    InvalidRange,
    /// There is no such multipart upload (any more).
    UploadGone,
    /// A conditional read found nothing newer.
    NotModified,
    /// The credentials are good, but this is not allowed.
    Denied,
    /// The credentials are wrong, expired or missing.
    Credentials,
    /// The bucket lives in another region or behind another endpoint.
    WrongRegion,
    /// The endpoint can't be reached.
    Unreachable,
    /// The TLS handshake failed: not for a connection that was cut, but for what the two said.
    Tls,
    /// The device or quota behind the store is full.
    Full,
    /// The store cannot do this at all.
    Unsupported,
    /// The store refuses the request as such; asking again is no use.
    Rejected,
    /// The answer is not what the protocol promises, or not what was asked for.
    Corrupt,
    /// It may well work the next time: overload, a timeout, a cut connection.
    Transient,
    /// A test has killed the store.
    Killed,
}

impl Class {
    /// Whether the same request may succeed when it is repeated, without anyone doing anything.
    pub(crate) fn passes(self) -> bool {
        matches!(self, Self::Transient | Self::BucketGone | Self::Unreachable)
    }

    /// Whether a person may be about to put it right: new credentials, a policy, room on the disk.
    pub(crate) fn may_be_mended(self) -> bool {
        matches!(self, Self::Denied | Self::Credentials | Self::Full | Self::Tls)
    }

    /// Whether a write that failed so may have taken effect all the same.
    pub(crate) fn effect_unknown(self) -> bool {
        matches!(self, Self::Transient | Self::Full)
    }
}

/// What `error` means.
pub(crate) fn classify(error: &Error) -> Class {
    if let Some(class) = by_type(error) {
        return class;
    }
    let text = redact::chain(error);
    if let Some(class) = redact::element(&text, "Code").and_then(of_code) {
        return class;
    }
    match error {
        Error::NotFound { .. } => Class::NotFound,
        Error::AlreadyExists { .. } => Class::Exists,
        Error::Precondition { .. } => Class::Precondition,
        Error::NotModified { .. } => Class::NotModified,
        Error::PermissionDenied { .. } => Class::Denied,
        Error::Unauthenticated { .. } => Class::Credentials,
        Error::NotSupported { .. } | Error::NotImplemented { .. } => Class::Unsupported,
        Error::Generic { .. } => by_status(&text),
        _ => Class::Rejected,
    }
}

/// What was said of a request that failed, fit to show. What it meant is kept, as the text does not say it any more.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Said {
    text: String,
    class: Class,
}

/// `error` without the document that came with it, if one did: servers repeat in it how a request was signed, and the temporary
/// credentials that were a part of that.
pub(crate) fn shown(error: Error) -> Error {
    let text = redact::chain(&error);
    if redact::element(&text, "Code").is_none() {
        return error;
    }
    let said = Box::new(Said { text: redact::short(&text), class: classify(&error) });
    match error {
        Error::NotFound { path, .. } => Error::NotFound { path, source: said },
        Error::AlreadyExists { path, .. } => Error::AlreadyExists { path, source: said },
        Error::Precondition { path, .. } => Error::Precondition { path, source: said },
        Error::NotModified { path, .. } => Error::NotModified { path, source: said },
        Error::PermissionDenied { path, .. } => Error::PermissionDenied { path, source: said },
        Error::Unauthenticated { path, .. } => Error::Unauthenticated { path, source: said },
        Error::NotSupported { .. } => Error::NotSupported { source: said },
        Error::Generic { store, .. } => Error::Generic { store, source: said },
        other => other,
    }
}

/// By the types found among the sources: errors of the operating system, of the HTTP client, and our own.
fn by_type(error: &Error) -> Option<Class> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if inner.is::<Killed>() {
            return Some(Class::Killed);
        }
        if let Some(said) = inner.downcast_ref::<Said>() {
            return Some(said.class);
        }
        if let Some(http) = inner.downcast_ref::<HttpError>() {
            return Some(of_http(http));
        }
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return of_io(io, error);
        }
        cause = inner.source();
    }
    None
}

fn of_http(error: &HttpError) -> Class {
    of_transport(&redact::chain(error), matches!(error.kind(), HttpErrorKind::Connect))
}

/// What an error of the HTTP client means, by its text, and whether it was met while connecting.
pub(crate) fn of_transport(text: &str, connecting: bool) -> Class {
    let text = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    // With TLS 1.3 a server asks for our certificate, which we have not, when for us the handshake is done.
    if text.contains("fatal alert: certificate") {
        return Class::Tls;
    }
    // A request may have reached the server by then: this is also what a connection closed before the answer gives.
    if !connecting {
        return Class::Transient;
    }
    // A handshake that was cut tells of a server that is gone, as a balancer's behind which there is none.
    let cut = says(&["eof", "close_notify", "reset"]);
    match says(&["certificate", "tls", "handshake", "corrupt message"]) && !cut {
        true => Class::Tls,
        false => Class::Unreachable,
    }
}

fn of_io(io: &io::Error, error: &Error) -> Option<Class> {
    match io.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(Class::Full),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Some(Class::Denied),
        // A provider that says something more precise than the operating system does is right.
        _ if !matches!(error, Error::Generic { .. }) => None,
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename | io::ErrorKind::NotADirectory => {
            Some(Class::Rejected)
        }
        io::ErrorKind::Unsupported => Some(Class::Unsupported),
        _ => Some(Class::Transient),
    }
}

/// By the code of an S3 error, for what the status alone does not tell.
pub(crate) fn of_code(code: &str) -> Option<Class> {
    Some(match code {
        "NoSuchBucket" => Class::BucketGone,
        "InvalidAccessKeyId"
        | "SignatureDoesNotMatch"
        | "ExpiredToken"
        | "InvalidToken"
        | "TokenRefreshRequired"
        | "RequestTimeTooSkewed"
        | "InvalidSecurity"
        | "NotSignedUp"
        // versitygw, of an access key that it does not know; with a status that elsewhere means that there is no object.
        | "XAdminUserNotFound" => Class::Credentials,
        "AuthorizationHeaderMalformed"
        | "PermanentRedirect"
        | "TemporaryRedirect"
        | "IllegalLocationConstraintException" => Class::WrongRegion,
        // Someone else writes or deletes this object at this moment: neither yes nor no.
        "ConditionalRequestConflict" | "OperationAborted" => Class::Transient,
        "SlowDown"
        | "ServiceUnavailable"
        | "InternalError"
        | "RequestTimeout"
        | "RequestLimitExceeded"
        | "Throttling"
        | "TooManyRequests"
        | "BadDigest"
        | "IncompleteBody"
        | "XAmzContentChecksumMismatch"
        | "XAmzContentSHA256Mismatch" => Class::Transient,
        "NotImplemented" => Class::Unsupported,
        "InvalidRange" => Class::InvalidRange,
        "NoSuchUpload" => Class::UploadGone,
        "QuotaExceeded" | "XMinioStorageFull" | "InsufficientStorage" => Class::Full,
        _ => return None,
    })
}

fn by_status(text: &str) -> Class {
    if text.contains("redirect without LOCATION") {
        return Class::WrongRegion;
    }
    // A 200 answer to a complete or copy request whose body is neither the result nor an error we know.
    if text.contains("invalid multipart response") {
        return Class::Rejected;
    }
    // Ranges that lie outside of the object, as memory and the client itself say it.
    if ["Wanted range starting at", "Range started at", "ETag required", "MissingETag"]
        .iter()
        .any(|start| text.contains(start))
    {
        return Class::Rejected;
    }
    if text.contains("non-partial response when range requested") {
        return Class::Unsupported;
    }
    status(text).map_or(Class::Transient, of_status)
}

/// By the HTTP status of an answer that is no success.
pub(crate) fn of_status(status: u16) -> Class {
    match status {
        401 => Class::Credentials,
        403 => Class::Denied,
        404 => Class::NotFound,
        412 => Class::Precondition,
        416 => Class::InvalidRange,
        501 => Class::Unsupported,
        507 => Class::Full,
        304 => Class::NotModified,
        408 | 425 | 429 => Class::Transient,
        300..=399 => Class::WrongRegion,
        400..=499 => Class::Rejected,
        _ => Class::Transient,
    }
}

/// The HTTP status that the text of an `object_store` error names.
fn status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

#[cfg(test)]
mod tests;
