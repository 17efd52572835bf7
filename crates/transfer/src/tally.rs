//! What came of it, so far.

use crate::Error;
use parking_lot::Mutex;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Most problems that are kept word for word; the others are counted.
const LISTED_MAX: usize = 1000;

/// Counts of a copy that is under way, shared with whoever shows them.
#[derive(Debug, Default)]
pub struct Tally {
    pub(crate) files: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) directories: AtomicU64,
    pub(crate) same: AtomicU64,
    pub(crate) unverifiable: AtomicU64,
    pub(crate) attributes_left_out: AtomicU64,
    problems: Mutex<(Vec<Problem>, u64)>,
    stopped: AtomicBool,
}

/// What was not copied, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The key or the path.
    pub name: String,
    /// Why.
    pub error: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Files, and symbolic links, that were copied; or would be, in a dry run.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Directories that were made or given attributes.
    pub directories: u64,
    /// Files that were there already, and the same.
    pub same: u64,
    /// Of those copied, files of which the server has no checksum that covers them: their length was right.
    pub unverifiable: u64,
    /// Attributes that could not be kept.
    pub attributes_left_out: u64,
    /// What was not copied: the first thousand.
    pub problems: Vec<Problem>,
    /// How many in all.
    pub problem_count: u64,
    /// Whether it was stopped before it had come to the end.
    pub interrupted: bool,
}

impl Tally {
    /// Files copied so far.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files.load(Relaxed)
    }

    /// Files that were there already.
    #[must_use]
    pub fn same(&self) -> u64 {
        self.same.load(Relaxed)
    }

    /// Bytes moved so far, those of files that are not complete included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Has it end soon: no further file is begun.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Whether it is to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// What came of it.
    #[must_use]
    pub fn report(&self) -> Report {
        let (problems, problem_count) = self.problems.lock().clone();
        let of = |count: &AtomicU64| count.load(Relaxed);
        Report {
            files: of(&self.files),
            bytes: of(&self.bytes),
            directories: of(&self.directories),
            same: of(&self.same),
            unverifiable: of(&self.unverifiable),
            attributes_left_out: of(&self.attributes_left_out),
            problems,
            problem_count,
            interrupted: self.is_stopped(),
        }
    }

    /// Notes what was not copied.
    pub(crate) fn problem(&self, name: &str, error: &Error) {
        if matches!(error, Error::Stopped) {
            return;
        }
        tracing::debug!(name, %error, "not copied");
        let mut problems = self.problems.lock();
        problems.1 += 1;
        if problems.0.len() < LISTED_MAX {
            problems.0.push(Problem { name: name.to_owned(), error: error.to_string() });
        }
    }

    /// Fails when somebody wants it to stop.
    pub(crate) fn go_on(&self) -> crate::Result<()> {
        if self.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

pub(crate) fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Relaxed);
}
