//! What names stood for when they were last asked for.

use crate::directory::Directory;
use crate::found::Found;
use parking_lot::Mutex;
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
    /// What was asked before this is not kept.
    since: Mutex<Option<Instant>>,
}

#[derive(Debug, Clone)]
struct Answer {
    /// None if it was forgotten: what was asked before that is not kept, when it arrives.
    found: Option<Option<Found>>,
    at: Instant,
    /// When one was last forgotten.
    forgotten: Option<Instant>,
}

impl Recent {
    /// Answers that are believed for `ttl`, in at most so many bytes.
    pub(crate) fn new(ttl: Duration, bytes_max: u64) -> Self {
        let count = usize::try_from(bytes_max / ENTRY_BYTES).unwrap_or(usize::MAX).max(1);
        Self { answers: Cache::new(count), ttl, since: Mutex::default() }
    }

    /// The answer, if there was one: `Some(None)` says that there is no such name.
    pub(crate) fn get(&self, directory: &Directory, name: &Name) -> Option<Option<Found>> {
        let answer = self.answers.get(&(directory.clone(), name.clone()))?;
        answer.found.filter(|_| answer.at.elapsed() < self.ttl)
    }

    /// Forgets the answer about a name, also one that is still to come.
    pub(crate) fn forget(&self, directory: &Directory, name: &Name) {
        if !self.ttl.is_zero() {
            let now = Instant::now();
            let answer = Answer { found: None, at: now, forgotten: Some(now) };
            self.answers.insert((directory.clone(), name.clone()), answer);
        }
    }

    /// Whether the answer about a name was forgotten after `asked`: what was asked then may be of before.
    pub(crate) fn is_forgotten_since(&self, directory: &Directory, name: &Name, asked: Instant) -> bool {
        let answer = self.answers.peek(&(directory.clone(), name.clone()));
        answer.and_then(|answer| answer.forgotten).is_some_and(|forgotten| forgotten > asked)
    }

    /// Forgets the answers about all names below what keys begin with.
    pub(crate) fn forget_below(&self, prefixes: &[&str]) {
        *self.since.lock() = Some(Instant::now());
        self.answers.retain(|(directory, _), _| !prefixes.iter().any(|prefix| directory.prefix().starts_with(prefix)));
    }

    /// Keeps an answer to what was asked at `asked`.
    pub(crate) fn keep(&self, directory: &Directory, name: &Name, found: Option<&Found>, asked: Instant) {
        let key = (directory.clone(), name.clone());
        let before = self.answers.peek(&key);
        let outdated = before.as_ref().is_some_and(|later| later.at > asked);
        if !self.ttl.is_zero() && !outdated && self.since.lock().is_none_or(|since| since <= asked) {
            let forgotten = before.and_then(|before| before.forgotten);
            self.answers.insert(key, Answer { found: Some(found.cloned()), at: asked, forgotten });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_from_before_a_change_is_not_kept() {
        let recent = Recent::new(Duration::from_secs(10), 1 << 20);
        let (directory, name) = (Directory::new("dir/"), Name::new(b"name".to_vec()).unwrap());
        let moment = Duration::from_millis(1);
        let asked = Instant::now();
        tokio::time::advance(moment).await;
        recent.forget(&directory, &name);
        recent.keep(&directory, &name, None, asked);
        assert_eq!(recent.get(&directory, &name), None);
        recent.keep(&directory, &name, None, Instant::now());
        assert_eq!(recent.get(&directory, &name), Some(None));
        assert!(recent.is_forgotten_since(&directory, &name, asked));
        assert!(!recent.is_forgotten_since(&directory, &name, Instant::now()));
        let asked = Instant::now();
        tokio::time::advance(moment).await;
        recent.forget_below(&["dir/"]);
        assert_eq!(recent.get(&directory, &name), None);
        recent.keep(&directory, &name, None, asked);
        assert_eq!(recent.get(&directory, &name), None);
    }
}
