//! `stoa status`.

mod view;

use super::target;
use crate::args::Status;
use crate::control::{self, Connection, Record, Request, Wait};
use crate::failure::Outcome;
use crate::{mounts, output};
use serde_json::{Value, json};
use std::path::Path;

/// Shows one mount, or all.
pub(crate) fn run(args: &Status) -> Outcome<()> {
    let mounts = match &args.target {
        Some(text) => vec![one(text)?],
        None => all()?,
    };
    if args.report.json {
        output::json(&mounts);
    } else if mounts.is_empty() {
        output::line("nothing is mounted; `stoa mount STORE DIR` mounts a volume");
    } else {
        let texts: Vec<_> = mounts.iter().map(view::text).collect();
        output::line(texts.join("\n\n"));
    }
    Ok(())
}

fn one(text: &str) -> Outcome<Value> {
    let (record, socket) = target::live(text)?;
    Connection::open(&record, &socket, &Request::Status, Wait::Briefly)?.result(|_, _, _| {})
}

/// Every mount that has a record, whether it answers or not, and those of the kernel's table that have none.
fn all() -> Outcome<Vec<Value>> {
    let records = control::all();
    let known = |dir: &Path| records.iter().any(|(record, _)| Path::new(&record.mountpoint) == dir);
    let unknown: Vec<Value> = mounts::stoa()?
        .into_iter()
        .filter(|mount| !known(&mount.mountpoint))
        .map(|mount| json!({ "mountpoint": mount.mountpoint.to_string_lossy(), "store": mount.source, "state": "unknown" }))
        .collect();
    let mut all: Vec<Value> = records.iter().map(|(record, socket)| asked(record, socket)).collect();
    all.extend(unknown);
    Ok(all)
}

fn asked(record: &Record, socket: &Path) -> Value {
    let answer =
        Connection::open(record, socket, &Request::Status, Wait::Briefly).and_then(|asked| asked.result(|_, _, _| {}));
    answer.unwrap_or_else(|failure| {
        let mut value = serde_json::to_value(record).unwrap_or_else(|_| json!({}));
        if let Some(fields) = value.as_object_mut() {
            fields.insert("state".into(), "silent".into());
            fields.insert("why".into(), failure.what().into());
        }
        value
    })
}
