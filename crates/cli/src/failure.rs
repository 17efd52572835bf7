//! Why a command did not do what it was asked: the one error type of this program.

use serde::{Deserialize, Serialize};
use std::error::Error;

/// Exit code of a command that failed.
pub(crate) const FAILED: u8 = 1;
/// Exit code of a command line that makes no sense.
pub(crate) const USAGE: u8 = 2;
/// Exit code of a command that ^C ended (bash(1): 128 and the number of the signal).
pub(crate) const INTERRUPTED: u8 = 130;
/// Exit code of `fsck` when it mended everything it found (fsck(8)).
pub(crate) const FSCK_REPAIRED: u8 = 1;
/// Exit code of `fsck` when problems are left (fsck(8)).
pub(crate) const FSCK_PROBLEMS: u8 = 4;
/// Exit code of `fsck` when it could not check (fsck(8)).
pub(crate) const FSCK_OPERATIONAL: u8 = 8;
/// Exit code of a mount that failed, where mount(8) asked for it.
pub(crate) const MOUNT_FAILED: u8 = 32;

/// The result of a command, or a part of one.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// What happened and to which thing, what to do about it, and what was behind it (shown with `-v`).
///
/// Serialises, because a mount that could not start tells its parent process through a pipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    what: String,
    advice: Option<String>,
    causes: Vec<String>,
    code: u8,
}

impl Failure {
    /// `what` happened, in one line that names the thing it happened to.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), advice: None, causes: Vec::new(), code: FAILED }
    }

    /// A mistake on the command line.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(what).code_is(USAGE)
    }

    /// `what` was tried, and `error` came back.
    pub(crate) fn because(what: impl std::fmt::Display, error: &(dyn Error + 'static)) -> Self {
        let mut failure = Self::of(error);
        failure.what = format!("{what}: {}", failure.what);
        failure
    }

    /// `error`, which names the thing it happened to itself.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        let mut failure = Self::new(error.to_string());
        let mut cause = error.source();
        while let Some(error) = cause {
            failure.causes.push(error.to_string());
            cause = error.source();
        }
        failure
    }

    /// Adds to what happened.
    pub(crate) fn and(mut self, more: impl std::fmt::Display) -> Self {
        self.what = format!("{}; {more}", self.what);
        self
    }

    /// Adds what the person can do about it.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Sets the exit code.
    pub(crate) fn code_is(mut self, code: u8) -> Self {
        self.code = code;
        self
    }

    /// What happened.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// What to do about it.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.advice.as_deref()
    }

    /// What was behind it, nearest first, without what the first line says already.
    pub(crate) fn causes(&self) -> impl Iterator<Item = &str> {
        self.causes.iter().map(String::as_str).filter(|cause| !self.what.contains(cause))
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }
}
