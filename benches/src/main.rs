//! Measures Stoa over an S3 server beside the local file system on the same disk and raw requests to the same server.
//!
//! Seconds, medians of several runs in one session. *Cold* is after an unmount, a mount, and dropping the kernel's caches.
//! A figure is printed only if what was read back is what was written.

mod files;
mod machine;
mod raw;
mod table;
mod workload;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use std::time::Duration;
use stoa_tests::{Setup, StoreKind, in_place};
use table::Table;
use workload::Workload;

/// Measure Stoa beside the local file system and raw S3 requests
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask bench --")]
struct Options {
    /// How often each is measured
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Size of the large file in MiB
    #[arg(long, default_value_t = 1024)]
    size: usize,
    /// Measure with a local directory as the store, instead of an S3 server; there are no raw requests then
    #[arg(long)]
    directory: bool,
}

fn main() -> Result<()> {
    let options = Options::parse();
    ensure!(options.runs > 0 && options.size > 0, "nothing to measure");
    let workload = Workload::new(options.size << 20)?;
    let store = if options.directory { StoreKind::Directory } else { StoreKind::s3() };
    let mut table = Table::new(["stoa", "local file system", "raw S3 requests"]);
    for run in 1..=options.runs {
        stoa_tests::command::note(&format!("run {run} of {}", options.runs));
        let setup = Setup::new("bench").limit(Duration::from_secs(3600));
        in_place(setup.store(store), |place| {
            files::measure(place, &workload, &mut |row, time| table.add(row, 0, time))
        })?;
        in_place(setup.local(), |place| files::measure(place, &workload, &mut |row, time| table.add(row, 1, time)))?;
        if !options.directory {
            raw::measure(store, &workload, &mut |row, time| table.add(row, 2, time)).context("raw requests")?;
        }
    }
    let report = format!("{}\n{}", machine::describe(store, &options_text(&options))?, table.markdown());
    std::io::Write::write_all(&mut std::io::stdout(), report.as_bytes())?;
    Ok(())
}

fn options_text(options: &Options) -> String {
    format!("medians of {}, large file of {} MiB", options.runs, options.size)
}
