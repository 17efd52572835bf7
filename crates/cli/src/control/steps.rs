//! Passes progress from whatever works to whoever waits, keeping only the latest step.

use stoa_volume::Progress;
use tokio::sync::watch;

/// How far a piece of work is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// What is being done.
    pub(crate) stage: String,
    /// Steps done.
    pub(crate) done: u64,
    /// Of how many; 0 if not known.
    pub(crate) total: u64,
}

/// The end that work reports to. Never blocks, and holds one step however slowly it is read.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    latest: watch::Sender<Step>,
}

impl Steps {
    /// A new pair: where to report to, and where to hear of it.
    pub(crate) fn new() -> (Self, watch::Receiver<Step>) {
        let (latest, heard) = watch::channel(Step::default());
        (Self { latest }, heard)
    }

    /// Reports that `done` of `total` steps of `stage` are done.
    pub(crate) fn report(&self, stage: impl Into<String>, done: u64, total: u64) {
        self.latest.send_replace(Step { stage: stage.into(), done, total });
    }
}

impl Progress for Steps {
    fn step(&self, stage: &'static str, done: u64, total: u64) {
        self.report(stage, done, total);
    }
}
