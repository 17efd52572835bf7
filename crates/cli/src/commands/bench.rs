//! `stoa bench`.

mod files;
mod view;

use super::{stats, target};
use crate::args::Bench;
use crate::control::{Connection, Record, Request, Wait};
use crate::daemon::Signals;
use crate::failure::{Failure, INTERRUPTED, Outcome};
use crate::metrics::StoreFigures;
use crate::mounts;
use crate::output::{self, Meter};
use crate::store::{Place, advised};
use files::{FileFigures, Files};
use serde::Deserialize;
use serde_json::json;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stoa_objects::BenchOptions;

/// How long an outage of the store is waited out; a person waits here.
const OUTAGE_MAX: Duration = Duration::from_secs(60);

/// Measures a store, or a mount and the store behind it.
pub(crate) fn run(args: &Bench) -> Outcome<()> {
    let measured = super::leave_behind(async {
        let mut signals = Signals::listen()?;
        match mounted(&args.target)? {
            Some(live) => mount(args, live, &mut signals).await,
            None => store(args, &mut signals).await,
        }
    })?;
    if args.report.json {
        output::json(&json!({ "store": measured.store, "store_name": measured.name, "mount": measured.mount }));
    } else {
        output::line(view::text(&measured));
    }
    Ok(())
}

/// What was found.
#[derive(Debug)]
struct Measured {
    name: String,
    store: StoreFigures,
    mount: Option<FileFigures>,
}

/// The mount that `text` is a directory in, if it is one.
fn mounted(text: &str) -> Outcome<Option<(Record, PathBuf, PathBuf)>> {
    if text.contains("://") {
        return Ok(None);
    }
    // What is not there is a store that is not there, and said so later.
    let Ok(dir) = Path::new(text).canonicalize() else { return Ok(None) };
    let found = dir.symlink_metadata().map_err(|error| Failure::because(text, &error))?;
    let device = (libc::major(found.dev()), libc::minor(found.dev()));
    if !mounts::stoa()?.iter().any(|mount| mount.device == device) {
        return Ok(None);
    }
    let (record, socket) = target::holding(&dir)?;
    if !found.is_dir() {
        return Err(Failure::usage(format!("{text} is not a directory")));
    }
    if record.read_only {
        return Err(Failure::new(format!("{} is mounted read-only: nothing can be written", record.mountpoint))
            .advise("mount it without -o ro"));
    }
    Ok(Some((record, socket, dir)))
}

fn interrupted() -> Failure {
    Failure::new("interrupted; what was made is removed").code_is(INTERRUPTED)
}

async fn store(args: &Bench, signals: &mut Signals) -> Outcome<Measured> {
    let place = Place::parse(&args.target)?;
    let name = place.name();
    let meter = Meter::new("connecting");
    let connected = tokio::select! {
        connected = place.connect(&args.access) => connected?,
        () = signals.next() => return Err(interrupted()),
    };
    // The provider of a directory makes files of its own there: in a directory that goes, they go too.
    let temporary = place.directory().map(|dir| tempfile::Builder::new().prefix(".stoa-bench-").tempdir_in(dir));
    let temporary = temporary.transpose().map_err(|error| Failure::because(&name, &error))?;
    let connected = match &temporary {
        Some(dir) => Place::parse(&dir.path().to_string_lossy())?.connect(&args.access).await?,
        None => connected,
    };
    let (store, stop) = (connected.patient_for(OUTAGE_MAX), AtomicBool::new(false));
    let options = BenchOptions { bytes: args.size, ..BenchOptions::default() };
    let heard = |stage: &'static str, done, total| meter.show(stage, done, total);
    let bench = stoa_objects::bench(store.as_ref(), &options, &stop, &heard);
    tokio::pin!(bench);
    let report = loop {
        tokio::select! {
            report = &mut bench => break report.map_err(|error| advised(&name, &error))?,
            // Requests under way are waited for: what came to be after it was removed would be left.
            () = signals.next() => stop.store(true, Ordering::Relaxed),
        }
    };
    let report = report.ok_or_else(interrupted)?;
    Ok(Measured { name, store: StoreFigures::from(&report), mount: None })
}

async fn mount(
    args: &Bench,
    (record, socket, dir): (Record, PathBuf, PathBuf),
    signals: &mut Signals,
) -> Outcome<Measured> {
    let meter = Arc::new(Meter::new("measuring the store"));
    let bytes = args.size;
    let asking = {
        let (record, socket, meter) = (record.clone(), socket.clone(), Arc::clone(&meter));
        move || {
            let connection = Connection::open(&record, &socket, &Request::Bench { bytes }, Wait::WhileAlive)?;
            let value = connection.result(|stage, done, total| meter.show(&format!("store: {stage}"), done, total))?;
            StoreFigures::deserialize(&value).map_err(|error| Failure::because("unreadable figures", &error))
        }
    };
    let store = tokio::select! {
        store = tokio::task::spawn_blocking(asking) => store.map_err(|error| Failure::of(&error))??,
        // The mount sees that nobody waits any more, and removes what it put.
        () = signals.next() => return Err(interrupted()),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let name = record.store.clone();
    let working = {
        let stop = Arc::clone(&stop);
        move || {
            let files = Files {
                dir: &dir,
                bytes,
                stop: &stop,
                sync: &|| {
                    let connection = Connection::open(&record, &socket, &Request::Sync, Wait::WhileAlive)?;
                    connection.result(|_, _, _| {}).map(drop)
                },
                received_bytes: &|| Ok(stats::snapshot(&record, &socket)?.store.received_bytes),
                heard: &|stage, done, total| meter.show(&format!("mount: {stage}"), done, total),
            };
            files.measure()
        }
    };
    let working = tokio::task::spawn_blocking(working);
    tokio::pin!(working);
    let mount = loop {
        tokio::select! {
            mount = &mut working => break mount.map_err(|error| Failure::of(&error))??,
            // The second time at once: it may wait for a store that is away.
            () = signals.next() => if stop.swap(true, Ordering::Relaxed) {
                return Err(Failure::new("interrupted; a directory .stoa-bench-... may be left").code_is(INTERRUPTED));
            },
        }
    };
    Ok(Measured { name, store, mount: Some(mount.ok_or_else(interrupted)?) })
}
