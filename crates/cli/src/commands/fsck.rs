//! `stoa fsck`.

use super::offline::{Opening, with_volume};
use super::target::{self, Target};
use crate::args::Fsck;
use crate::control::Request;
use crate::daemon::limited;
use crate::failure::{FSCK_OPERATIONAL, FSCK_PROBLEMS, FSCK_REPAIRED, Failure, Outcome};
use crate::output::{self, Meter, plural};
use serde::Deserialize;
use serde_json::Value;
use std::process::ExitCode;
use stoa_volume::FsckOptions;

/// Checks a volume: by the process that has it mounted, if one of this host has, or by opening it.
pub(crate) fn run(args: &Fsck) -> Outcome<ExitCode> {
    let could_not = |failure: Failure| match failure.code() {
        130 => failure,
        _ => failure.code_is(FSCK_OPERATIONAL),
    };
    let value = check(args).map_err(could_not)?;
    let report =
        Report::deserialize(&value).map_err(|error| could_not(Failure::because("unreadable report", &error)))?;
    if args.report.json {
        output::json(&value);
    } else {
        output::line(report.text());
    }
    Ok(ExitCode::from(report.code()))
}

fn check(args: &Fsck) -> Outcome<Value> {
    let (data, repair) = (args.data, args.repair);
    match target::find_fit(&args.store, args.access.endpoint.as_deref())? {
        Target::Live(record, socket) => {
            let asked = target::ask(&record, &socket, &Request::Fsck { data, repair }, &Meter::new("checking"))?;
            asked.map_or_else(|| check(args), Ok)
        }
        Target::Store(place) => {
            let opening = Opening {
                place: &place,
                access: &args.access,
                memory: args.memory.memory,
                take_over: args.take_over,
                purpose: "fsck",
            };
            with_volume(&opening, async |volume, meter| {
                let report =
                    volume.fsck(FsckOptions { data, repair }, meter).await.map_err(|error| error.to_string())?;
                limited(&report, "")
            })
        }
    }
}

/// What came back, as far as it is shown.
#[derive(Debug, Deserialize)]
struct Report {
    inodes: u64,
    dentries: u64,
    extents: u64,
    segments: u64,
    frames_verified: u64,
    problems: Vec<Problem>,
    problems_left_out: u64,
    problems_left: u64,
    orphan_segments: u64,
}

#[derive(Debug, Deserialize)]
struct Problem {
    what: String,
    repaired: bool,
}

impl Report {
    fn code(&self) -> u8 {
        if self.problems_left > 0 {
            FSCK_PROBLEMS
        } else if self.problems.is_empty() {
            0
        } else {
            FSCK_REPAIRED
        }
    }

    fn text(&self) -> String {
        let mut lines: Vec<String> = self
            .problems
            .iter()
            .map(|problem| format!("{}  {}", if problem.repaired { "repaired" } else { "PROBLEM " }, problem.what))
            .collect();
        if self.problems_left_out > 0 {
            lines.push(format!("... and {} more", plural(self.problems_left_out, "problem")));
        }
        let mut looked_at = format!(
            "looked at {}, {}, {}, {}",
            plural(self.inodes, "inode"),
            plural(self.dentries, "name"),
            plural(self.extents, "extent"),
            plural(self.segments, "segment")
        );
        if self.frames_verified > 0 {
            looked_at.push_str(&format!("; read and verified {}", plural(self.frames_verified, "frame")));
        }
        lines.push(looked_at);
        if self.orphan_segments > 0 {
            lines.push(format!(
                "{} that nothing names, left by a crash; `stoa gc` removes them",
                plural(self.orphan_segments, "segment")
            ));
        }
        lines.push(match self.code() {
            0 => "clean".into(),
            FSCK_REPAIRED => "all problems were repaired".into(),
            _ => format!(
                "{} left; --repair mends what can be mended without losing anything",
                plural(self.problems_left, "problem")
            ),
        });
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests;
