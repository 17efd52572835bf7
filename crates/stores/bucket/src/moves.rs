//! What is being renamed, and who waits for that.
//!
//! A rename of a directory is many requests. Until it is over, nobody changes anything below its two names here. Whoever only looks
//! sees all of it under the old name, and from one moment on all of it under the new one.

use crate::found::Target;
use parking_lot::Mutex;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// What somebody does, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Finds names, or lists them.
    Look,
    /// Changes an object, or a name.
    Change,
    /// Moves what is below the paths.
    Move,
    /// As `Move`, at the moment when the old names go and the new ones come.
    Switch,
}

/// Who is at work.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    begun: u64,
    /// The oldest first.
    at_work: Vec<Worker>,
    hidden: Vec<Hidden>,
    progress: Vec<Weak<Progress>>,
}

#[derive(Debug)]
struct Worker {
    id: u64,
    work: Work,
    /// Keys, or what keys begin with, each with a slash at its end.
    paths: Vec<String>,
    /// Whether it waits for nobody any more.
    runs: bool,
}

/// What is not shown, though it is in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// The object of a key.
    Object(Arc<str>),
    /// A directory, with all that is in it.
    Directory(Arc<str>),
}

/// How far a rename of a directory has come.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) copied: AtomicU64,
    pub(crate) removed: AtomicU64,
}

/// How far a rename of a directory has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rename {
    /// What the keys began with.
    pub from: String,
    /// What they begin with afterwards.
    pub to: String,
    /// Objects that were copied so far.
    pub copied: u64,
    /// Objects that were removed so far.
    pub removed: u64,
}

/// Somebody is at work, until it is dropped.
#[derive(Debug)]
pub(crate) struct Working<'m> {
    moves: &'m Moves,
    id: u64,
}

impl Hidden {
    fn hides(&self, target: &Target) -> bool {
        match (self, target) {
            (Self::Object(key), Target::Object(version)) => version.key == *key,
            (Self::Object(_), Target::Directory(_)) => false,
            (Self::Directory(prefix), target) => target.key().starts_with(&**prefix),
        }
    }
}

/// Whether none of these hides `target`.
pub(crate) fn shows(hidden: &[Hidden], target: &Target) -> bool {
    !hidden.iter().any(|hidden| hidden.hides(target))
}

impl Progress {
    pub(crate) fn new(from: &str, to: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), copied: AtomicU64::new(0), removed: AtomicU64::new(0) }
    }

    fn now(&self) -> Rename {
        Rename {
            from: self.from.clone(),
            to: self.to.clone(),
            copied: self.copied.load(Ordering::Relaxed),
            removed: self.removed.load(Ordering::Relaxed),
        }
    }
}

impl Moves {
    /// Begins to work, as soon as nobody else's work is in the way.
    pub(crate) async fn begin(&self, work: Work, paths: Vec<String>) -> Working<'_> {
        let working = {
            let mut state = self.state.lock();
            state.begun += 1;
            let id = state.begun;
            state.at_work.push(Worker { id, work, paths, runs: false });
            Working { moves: self, id }
        };
        self.until_free(working.id).await;
        working
    }

    /// What is not shown now.
    pub(crate) fn hidden(&self) -> Vec<Hidden> {
        self.state.lock().hidden.clone()
    }

    /// Shows `this` no more.
    pub(crate) fn hide(&self, this: Hidden) {
        self.state.lock().hidden.push(this);
    }

    /// Shows `this` again.
    pub(crate) fn show(&self, this: &Hidden) {
        let mut state = self.state.lock();
        let at = state.hidden.iter().position(|hidden| hidden == this);
        at.map(|at| state.hidden.swap_remove(at));
    }

    /// Has `progress` be seen until it is dropped.
    pub(crate) fn watch(&self, progress: &Arc<Progress>) {
        let mut state = self.state.lock();
        state.progress.retain(|one| one.strong_count() > 0);
        state.progress.push(Arc::downgrade(progress));
    }

    /// How far the renames of directories have come.
    pub(crate) fn progress(&self) -> Vec<Rename> {
        self.state.lock().progress.iter().filter_map(Weak::upgrade).map(|progress| progress.now()).collect()
    }

    async fn until_free(&self, id: u64) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // From here on no end is missed.
            ended.as_mut().enable();
            if self.state.lock().run(id) {
                return;
            }
            ended.await;
        }
    }
}

impl State {
    /// Has worker `id` run, if nobody is in its way.
    fn run(&mut self, id: u64) -> bool {
        let Some(worker) = self.at_work.iter().find(|worker| worker.id == id) else { return true };
        let is_free = !self.at_work.iter().any(|other| worker.waits_for(other));
        if let Some(worker) = self.at_work.iter_mut().find(|worker| worker.id == id) {
            worker.runs = is_free;
        }
        is_free
    }
}

impl Worker {
    fn waits_for(&self, other: &Self) -> bool {
        let waits = match (self.work, other.work) {
            // In turn, so that nobody waits for ever.
            (Work::Change, Work::Move | Work::Switch) | (Work::Move, Work::Change | Work::Move | Work::Switch) => {
                other.id < self.id
            }
            (Work::Look, Work::Switch) => true,
            // Who has begun to look is on the old names still.
            (Work::Switch, Work::Look) => other.runs,
            _ => false,
        };
        let meet = |one: &String, two: &String| one.starts_with(two.as_str()) || two.starts_with(one.as_str());
        waits && self.paths.iter().any(|one| other.paths.iter().any(|two| meet(one, two)))
    }
}

impl Working<'_> {
    /// Whether these are the paths that it is with.
    pub(crate) fn is_with(&self, paths: &[String]) -> bool {
        let state = self.moves.state.lock();
        state.at_work.iter().any(|worker| worker.id == self.id && worker.paths == paths)
    }

    /// Waits until nobody looks any more who began before, and has all others wait.
    pub(crate) async fn switch(&self) {
        self.becomes(Work::Switch);
        self.moves.until_free(self.id).await;
    }

    /// The new names are there: others may look again.
    pub(crate) fn switched(&self) {
        self.becomes(Work::Move);
        self.moves.ended.notify_waiters();
    }

    fn becomes(&self, work: Work) {
        if let Some(worker) = self.moves.state.lock().at_work.iter_mut().find(|worker| worker.id == self.id) {
            worker.work = work;
        }
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.moves.state.lock().at_work.retain(|worker| worker.id != self.id);
        self.moves.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
