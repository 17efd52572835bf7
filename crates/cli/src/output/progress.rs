//! How far a long operation is, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;
use stoa_volume::Progress;

/// Shows steps of a long operation on stderr: a bar where the total is known, a spinner otherwise. Shows nothing where
/// stderr is no terminal, so that logs and pipes stay clean. Goes away when dropped.
#[derive(Debug)]
pub(crate) struct Meter {
    bar: ProgressBar,
}

impl Meter {
    /// A meter that shows `stage` first.
    pub(crate) fn new(stage: &str) -> Self {
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        let meter = Self { bar };
        meter.show(stage, 0, 0);
        meter
    }

    /// Shows that `done` of `total` steps of `stage` are done; a total of 0 is not known.
    pub(crate) fn show(&self, stage: &str, done: u64, total: u64) {
        if total == 0 {
            self.bar.set_style(ProgressStyle::default_spinner());
            self.bar.unset_length();
        } else {
            self.bar.set_style(bar_style());
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
        self.bar.set_message(stage.to_owned());
    }

    /// Whether nobody sees it.
    pub(super) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Prints a line that stays, above what is shown.
    pub(super) fn note(&self, text: impl std::fmt::Display) {
        self.bar.suspend(|| super::note(text));
    }

    /// Shows that `done` of about `total` bytes of `stage` are done.
    pub(crate) fn show_bytes(&self, stage: &str, done: u64, total: u64) {
        self.bar.set_style(bytes_style());
        self.bar.set_length(total.max(done));
        self.bar.set_position(done);
        self.bar.set_message(stage.to_owned());
    }
}

fn bytes_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} [{bar:40}] {binary_bytes}/{binary_total_bytes} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn bar_style() -> ProgressStyle {
    // A template that does not parse would only cost the looks of the bar.
    ProgressStyle::with_template("{msg} [{bar:40}] {human_pos}/{human_len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for Meter {
    fn step(&self, stage: &'static str, done: u64, total: u64) {
        self.show(stage, done, total);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
