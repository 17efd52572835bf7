//! What the person sees: results on stdout, everything else on stderr. The only place that prints.

mod list;
mod progress;
mod table;
mod units;
mod waiting;

pub(crate) use list::JsonList;
pub(crate) use progress::Meter;
pub(crate) use table::Table;
pub(crate) use units::{bytes, count, plural, short, time, unstored};
pub(crate) use waiting::Waiting;

use crate::failure::{Failure, Outcome};
use serde::Serialize;
use std::io::{self, Write};
use std::sync::OnceLock;

/// Why some of the result could not be printed.
static UNPRINTED: OnceLock<io::Error> = OnceLock::new();

/// Fails if some of the result could not be printed. A reader that has gone (`| head`) is no error: nobody is left to tell.
pub(crate) fn check() -> Outcome<()> {
    match UNPRINTED.get() {
        Some(error) => Err(Failure::because("the result can't be written", error)),
        None => Ok(()),
    }
}

fn print(text: impl std::fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush())
}

/// Whether it was printed.
fn is_printed(printed: io::Result<()>) -> bool {
    let Err(error) = printed else { return true };
    if error.kind() != io::ErrorKind::BrokenPipe {
        // The first says it all.
        let _ = UNPRINTED.set(error);
    }
    false
}

/// Prints a line of the result.
pub(crate) fn line(text: impl std::fmt::Display) {
    is_printed(print(text));
}

/// Prints a line of a result that goes on for as long as somebody reads it; whether somebody does.
pub(crate) fn live_line(text: impl std::fmt::Display) -> bool {
    is_printed(print(text))
}

/// How many lines fit on the screen, if stdout is one.
pub(crate) fn screen_lines() -> Option<usize> {
    let size = terminal_size::terminal_size_of(io::stdout());
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
    let _ = writeln!(io::stderr().lock(), "{text}");
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
