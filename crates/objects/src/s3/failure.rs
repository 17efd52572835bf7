//! One attempt that failed, and what it means.

use super::xml::Element;
use crate::Error;
use crate::classify::{Class, of_code, of_status, of_transport};
use crate::redact;
use chrono::DateTime;
use hyper::HeaderMap;
use hyper::header::DATE;
use std::fmt;
use std::time::{Duration, SystemTime};

/// A clock is wrong when it differs by more than this from the server's, which then refuses signatures.
const SKEW_MAX: Duration = Duration::from_secs(15 * 60);

/// Why an attempt failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) class: Class,
    /// The server's code, as `SlowDown`; empty when it gave none.
    pub(super) code: String,
    message: String,
    status: Option<u16>,
    /// Where the server says that the bucket is.
    pub(super) region: Option<String>,
    /// The server's clock.
    pub(super) date: Option<SystemTime>,
}

impl Failure {
    /// For a request that is wrong as such.
    pub(super) fn rejected(message: String) -> Self {
        Self::new(Class::Rejected, message)
    }

    /// For an answer that can't be right.
    pub(super) fn corrupt(message: String) -> Self {
        Self::new(Class::Corrupt, message)
    }

    pub(super) fn new(class: Class, message: String) -> Self {
        Self { class, code: String::new(), message, status: None, region: None, date: None }
    }

    /// For what the HTTP client met.
    pub(super) fn transport(error: &(dyn std::error::Error + 'static), connecting: bool) -> Self {
        let text = redact::chain(error);
        Self::new(of_transport(&text, connecting), redact::short(&text))
    }

    /// For an answer that is no success, or a success with an error inside.
    pub(super) fn of_answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let said = Element::parse(body).ok().filter(|root| root.is("Error"));
        let text = |name| said.as_ref().and_then(|root| root.text_of(name)).unwrap_or_default();
        let message = if said.is_some() { text("Message") } else { plain(body) };
        let mut failure = Self::of_error(text("Code"), message);
        let unknown = !(200..300).contains(&status) && of_error_code(&failure.code).is_none();
        if failure.code.is_empty() || unknown {
            failure.class = of_status(status);
        }
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // So is a deleted version answered for.
        if status == 405 && header("x-amz-delete-marker") == Some("true") {
            failure.class = Class::NotFound;
        }
        failure.status = Some(status);
        failure.region = header("x-amz-bucket-region")
            .or_else(|| said.as_ref().and_then(|root| root.text_of("Region")))
            .map(str::to_owned);
        failure.date = header(DATE.as_str()).and_then(date);
        failure
    }

    /// For an error of one key among many, or inside of an answer.
    pub(super) fn of_error(code: &str, message: &str) -> Self {
        let class = of_error_code(code).unwrap_or(Class::Rejected);
        Self { code: code.to_owned(), ..Self::new(class, message.to_owned()) }
    }

    /// Whether the server refuses the signature because of the clock. Answers to HEAD have no code.
    pub(super) fn is_skew(&self, now: SystemTime) -> bool {
        let far = |date: SystemTime| {
            let apart = date.duration_since(now).unwrap_or_else(|error| error.duration());
            apart > SKEW_MAX
        };
        match self.code.as_str() {
            "RequestTimeTooSkewed" => true,
            "" => self.status == Some(403) && self.date.is_some_and(far),
            _ => false,
        }
    }

    /// Whether it may be because the object read is not encrypted with the customer's key, or is, and the request says the other.
    /// Answers to HEAD have no code.
    pub(super) fn is_other_key(&self) -> bool {
        self.status == Some(400) && self.class == Class::Rejected && matches!(self.code.as_str(), "" | "InvalidRequest")
    }

    /// Whether the bucket is elsewhere than `region`, and the answer says where.
    pub(super) fn is_elsewhere(&self, region: &str) -> bool {
        let told = self.region.as_ref().is_some_and(|there| !there.is_empty() && there != region);
        told && matches!(self.status, Some(301 | 307 | 400 | 403))
    }

    /// The same, taken for something else.
    pub(super) fn of(self, class: Class) -> Self {
        Self { class, ..self }
    }

    /// Whether a concurrent write made it fail, which says neither yes nor no.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self.code.as_str(), "ConditionalRequestConflict" | "OperationAborted")
    }

    /// The error for the one who asked for `op`.
    pub(super) fn into_error(self, op: &str, endpoint: impl FnOnce() -> String) -> Error {
        let detail = redact::short(&self.to_string());
        Error::of_class(self.class, op.to_owned(), detail, endpoint)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "HTTP {status}")?;
            if !self.code.is_empty() || !self.message.is_empty() {
                f.write_str(" ")?;
            }
        }
        match (self.code.is_empty(), self.message.is_empty()) {
            (false, false) => write!(f, "{}: {}", self.code, self.message),
            (false, true) => f.write_str(&self.code),
            (true, _) => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Failure {}

/// What an answer says that is no XML: a proxy's, or that of a server which is spoken to without TLS and wants it.
fn plain(body: &[u8]) -> &str {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    // A page, or XML that was cut.
    if text.starts_with('<') { "" } else { text }
}

/// What a code says by itself, where no status goes with it.
fn of_error_code(code: &str) -> Option<Class> {
    of_code(code).or(match code {
        "AccessDenied" => Some(Class::Denied),
        "NoSuchKey" | "NoSuchVersion" => Some(Class::NotFound),
        "PreconditionFailed" => Some(Class::Precondition),
        // 403, but about the object's storage class, not about rights.
        "InvalidObjectState" => Some(Class::Rejected),
        _ => None,
    })
}

/// A date as HTTP writes it.
pub(super) fn date(text: &str) -> Option<SystemTime> {
    DateTime::parse_from_rfc2822(text).ok().map(SystemTime::from)
}

#[cfg(test)]
mod tests;
