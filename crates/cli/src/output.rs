//! What the person sees: results on stdout, everything else on stderr. The only place that prints.

mod progress;
mod table;
mod units;
mod waiting;

pub(crate) use progress::Meter;
pub(crate) use table::Table;
pub(crate) use units::{bytes, count, plural, short, time, unstored};
pub(crate) use waiting::Waiting;

use crate::failure::Failure;
use serde::Serialize;
use std::io::Write;

/// Prints a line of the result. A reader that has gone (`| head`) is no error: nobody is left to tell.
pub(crate) fn line(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints a line of a result that goes on for as long as somebody reads it; whether somebody does.
pub(crate) fn live_line(text: impl std::fmt::Display) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).is_ok()
}

/// How many lines fit on the screen, if stdout is one.
pub(crate) fn screen_lines() -> Option<usize> {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map(|(_, height)| usize::from(height.0))
}

/// Prints the result as a JSON document.
pub(crate) fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(text),
        Err(error) => note(format!("stoa: the result does not fit into JSON: {error}")),
    }
}

/// Prints a line that is not part of the result.
pub(crate) fn note(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints why a command failed; with `verbose`, what was behind it too.
pub(crate) fn failure(failure: &Failure, verbose: u8) {
    note(format_args!("stoa: {}", failure.what()));
    if let Some(advice) = failure.advice() {
        note(format_args!("  {advice}"));
    }
    if verbose > 0 {
        for cause in failure.causes() {
            note(format_args!("  caused by: {cause}"));
        }
    }
}
