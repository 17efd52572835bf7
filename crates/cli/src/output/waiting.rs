//! What a command waits for that may have to wait for long.

use super::Meter;
use std::time::{Duration, Instant};

/// How long a command may be silent.
const SOON: Duration = Duration::from_secs(2);
/// How often it says again what it waits for, where no meter is seen.
const AGAIN: Duration = Duration::from_secs(30);

/// A meter that says in words, once it takes longer than a moment, what is waited for. Where stderr is no terminal it does so again
/// now and then: whoever reads that can't see a meter.
#[derive(Debug)]
pub(crate) struct Waiting {
    meter: Meter,
    hint: String,
    began: Instant,
    said: Option<Instant>,
}

impl Waiting {
    /// A meter that shows `stage` first. `hint` says what the person may do instead of waiting.
    pub(crate) fn new(stage: &str, hint: String) -> Self {
        Self { meter: Meter::new(stage), hint, began: Instant::now(), said: None }
    }

    /// Shows that `done` of `total` steps of `stage` are done.
    pub(crate) fn show(&mut self, stage: &str, done: u64, total: u64) {
        self.meter.show(stage, done, total);
        if is_due(self.began.elapsed(), self.said.map(|said| said.elapsed()), self.meter.is_hidden()) {
            self.said = Some(Instant::now());
            self.meter.note(format_args!("stoa: waiting for the store: {stage}; {}", self.hint));
        }
    }
}

/// Whether to say something after `waited`, if the last time was `said` ago.
fn is_due(waited: Duration, said: Option<Duration>, is_hidden: bool) -> bool {
    match said {
        None => waited >= SOON,
        Some(said) => is_hidden && said >= AGAIN,
    }
}

#[cfg(test)]
mod tests;
