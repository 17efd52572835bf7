//! `stoa gc`.

use super::offline::{Opening, with_volume};
use super::target::{self, Target};
use crate::args::Gc;
use crate::control::Request;
use crate::daemon::limited;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Meter, bytes, plural};
use serde::Deserialize;
use serde_json::Value;

/// Collects a volume: by the process that has it mounted, if one of this host has, or by opening it.
pub(crate) fn run(args: &Gc) -> Outcome<()> {
    let value = collect(args)?;
    if args.report.json {
        output::json(&value);
        return Ok(());
    }
    let report = Report::deserialize(&value).map_err(|error| Failure::because("unreadable report", &error))?;
    output::line(report.text());
    Ok(())
}

fn collect(args: &Gc) -> Outcome<Value> {
    match target::find_fit(&args.store, args.access.endpoint.as_deref())? {
        Target::Live(record, socket) => {
            let asked = target::ask(&record, &socket, &Request::Gc, &Meter::new("collecting"))?;
            asked.map_or_else(|| collect(args), Ok)
        }
        Target::Store(place) => {
            let opening = Opening {
                place: &place,
                access: &args.access,
                memory: args.memory.memory,
                take_over: args.take_over,
                purpose: "gc",
            };
            with_volume(&opening, async |volume, meter| {
                let report = volume.gc(meter).await.map_err(|error| error.to_string())?;
                limited(&report, "")
            })
        }
    }
}

/// What came back.
#[derive(Debug, Deserialize)]
struct Report {
    segments: u64,
    deleted_segments: u64,
    deleted_bytes: u64,
    rewritten_segments: u64,
    rewritten_bytes: u64,
}

impl Report {
    fn text(&self) -> String {
        format!(
            "looked at {}\ndeleted   {} ({})\nrewrote   {} ({} moved)",
            plural(self.segments, "segment"),
            plural(self.deleted_segments, "segment"),
            bytes(self.deleted_bytes),
            plural(self.rewritten_segments, "segment"),
            bytes(self.rewritten_bytes)
        )
    }
}

#[cfg(test)]
mod tests;
