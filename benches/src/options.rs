//! The command line.

use crate::scenarios;
use crate::store::Way;
use crate::systems::System;
use anyhow::{Result, ensure};
use clap::{Parser, Subcommand, ValueEnum};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Measure Stoa beside its limits and its peers; the table goes to stdout, progress to stderr
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask bench --", max_term_width = 120)]
pub(crate) struct Options {
    /// Only these rows: names, scenarios, or their beginnings up to a dash; see --list
    #[arg(long, value_name = "ROW,...", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
    /// Only these systems
    #[arg(long, value_name = "SYSTEM,...", value_delimiter = ',')]
    pub(crate) systems: Vec<System>,
    /// How often each row is measured; the table has medians
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: usize,
    /// Size of the large file in MiB; the sizes of parallel files go with it
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
    /// Milliseconds added to each request's first byte; with several, a table for each
    #[arg(long, value_name = "MS,...", value_delimiter = ',', default_values_t = [0])]
    pub(crate) latency: Vec<u64>,
    /// Leave the proxy out, to see what it costs: no requests are counted then
    #[arg(long, conflicts_with = "latency")]
    pub(crate) no_proxy: bool,
    /// Seconds that a row may take, with what it prepares, on one system
    #[arg(long, default_value_t = 300)]
    pub(crate) limit: u64,
    /// Seconds of random writes
    #[arg(long, default_value_t = 30)]
    pub(crate) writing: u64,
    /// Seconds of doing nothing
    #[arg(long, default_value_t = 600)]
    pub(crate) idle: u64,
    /// Where files and objects go [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Write every measurement to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Show the rows and end
    #[arg(long)]
    pub(crate) list: bool,
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
}

/// Processes of its own that the bench is made of.
#[derive(Debug, Subcommand)]
pub(crate) enum Part {
    /// Serve the model in memory on a directory
    #[command(hide = true)]
    ServeFloor { dir: PathBuf },
    /// Send requests as told on stdin
    #[command(hide = true)]
    RawRequests { endpoint: String },
}

impl Options {
    pub(crate) fn check(&self) -> Result<()> {
        ensure!(self.runs > 0 && self.size > 0, "nothing to measure");
        scenarios::check(&self.rows)
    }

    pub(crate) fn systems(&self) -> Vec<System> {
        let chosen = |system: &System| self.systems.is_empty() || self.systems.contains(system);
        System::value_variants().iter().copied().filter(chosen).collect()
    }

    /// The ids of the rows that were chosen.
    pub(crate) fn wanted(&self) -> BTreeSet<&'static str> {
        let rows = scenarios::ALL.iter().flat_map(|scenario| scenario.rows.iter().map(move |&row| (scenario, row)));
        let chosen = rows.filter(|&(scenario, row)| {
            self.rows.is_empty() || self.rows.iter().any(|word| scenarios::names(word, scenario, row))
        });
        chosen.map(|(_, row)| row.id).collect()
    }

    /// How the store is reached, one way after the other.
    pub(crate) fn ways(&self) -> Vec<Way> {
        if self.no_proxy {
            return vec![Way::Direct];
        }
        self.latency.iter().map(|&ms| Way::Proxied(Duration::from_millis(ms))).collect()
    }
}
