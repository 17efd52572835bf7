//! What names stood for when they were last asked for.

use crate::directory::Directory;
use crate::found::Found;
use quick_cache::sync::Cache;
use std::time::Duration;
use stoa_vfs::Name;
use tokio::time::Instant;

/// Memory of an entry: two texts, target, looks.
const ENTRY_BYTES: u64 = 768;

/// Answers about single names, those that say that there is none too.
#[derive(Debug)]
pub(crate) struct Recent {
    answers: Cache<(Directory, Name), Answer>,
    ttl: Duration,
}

#[derive(Debug, Clone)]
struct Answer {
    found: Option<Found>,
    at: Instant,
}

impl Recent {
    /// Answers that are believed for `ttl`, in at most so many bytes.
    pub(crate) fn new(ttl: Duration, bytes_max: u64) -> Self {
        let count = usize::try_from(bytes_max / ENTRY_BYTES).unwrap_or(usize::MAX).max(1);
        Self { answers: Cache::new(count), ttl }
    }

    /// The answer, if there was one: `Some(None)` says that there is no such name.
    pub(crate) fn get(&self, directory: &Directory, name: &Name) -> Option<Option<Found>> {
        let answer = self.answers.get(&(directory.clone(), name.clone()))?;
        (answer.at.elapsed() < self.ttl).then_some(answer.found)
    }

    /// Forgets the answer about a name.
    pub(crate) fn forget(&self, directory: &Directory, name: &Name) {
        self.answers.remove(&(directory.clone(), name.clone()));
    }

    /// Forgets the answers about all names below what keys begin with.
    pub(crate) fn forget_below(&self, prefixes: &[&str]) {
        self.answers.retain(|(directory, _), _| !prefixes.iter().any(|prefix| directory.prefix().starts_with(prefix)));
    }

    /// Keeps an answer to what was asked at `asked`.
    pub(crate) fn keep(&self, directory: &Directory, name: &Name, found: Option<&Found>, asked: Instant) {
        if !self.ttl.is_zero() {
            let answer = Answer { found: found.cloned(), at: asked };
            self.answers.insert((directory.clone(), name.clone()), answer);
        }
    }
}
