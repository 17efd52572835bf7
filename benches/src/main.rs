//! Measures Stoa beside its limits (the local file system, raw requests, the FUSE interface) and its peers.
//!
//! Every system does the same rows in a fresh volume on a fresh S3 server, behind a proxy that counts. *Cold* is after an
//! unmount, a mount, and dropping the kernel's caches. A figure is taken only if what was read back is what was written.

mod data;
mod figure;
mod guard;
mod io;
mod machine;
mod mount;
mod options;
mod place;
mod process;
mod proxy;
mod report;
mod run;
mod scenarios;
mod server;
mod session;
mod store;
mod systems;

use anyhow::{Context, Result};
use clap::Parser;
use data::Data;
use options::{Options, Part};
use report::Report;
use std::io::Write;

fn main() -> Result<()> {
    let options = Options::parse();
    match &options.part {
        Some(Part::ServeFloor { dir }) => systems::serve_floor(dir),
        Some(Part::RawRequests { endpoint }) => systems::raw_requests(endpoint),
        None if options.list => list(&options),
        None => measure(&options),
    }
}

fn list(options: &Options) -> Result<()> {
    for scenario in scenarios::ALL {
        writeln!(std::io::stdout(), "{}", scenario.name)?;
        for row in scenario.rows {
            writeln!(std::io::stdout(), "  {:24} {}", row.id, row.title(options))?;
        }
    }
    Ok(())
}

fn measure(options: &Options) -> Result<()> {
    options.check()?;
    let mut scratch = tempfile::Builder::new();
    scratch.prefix("stoa-bench-");
    let scratch = match &options.scratch {
        Some(parent) => scratch.tempdir_in(parent).with_context(|| parent.display().to_string())?,
        None => scratch.tempdir()?,
    };
    guard::start(scratch.path())?;
    let data = Data::new(options.size << 20);
    let mut report = Report::new(machine::describe(options)?);
    for way in options.ways() {
        let table = run::table(options, way, &data, scratch.path())?;
        writeln!(std::io::stdout(), "{}", table.markdown(&report.machine, options))?;
        report.add(table);
    }
    if let Some(path) = &options.json {
        std::fs::write(path, report.json()?).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
