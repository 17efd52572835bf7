//! Chores of the workspace: `cargo xtask setup | gate | test | suites | bench`.

// A chore talks to whoever runs it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod gate;
mod setup;
mod shell;
mod suites;
mod tally;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tally::Tally;

/// Chores of the Stoa workspace
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", max_term_width = 120)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Install what tests need: Debian packages, and programs below target/tools
    Setup,
    /// Formatting, clippy, layering, file sizes, licences, documentation, unit tests: before every commit
    Gate(gate::Options),
    /// Everything: setup, gate, and the suites on real mounts at the size CI can afford
    Test,
    /// The suites on real mounts alone
    Suites(suites::Options),
    /// Measure Stoa beside its limits and its peers, which are installed
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let mut tally = Tally::default();
    let done = match Cli::parse().chore {
        Chore::Setup => return end(setup::run()),
        Chore::Gate(options) => {
            gate::run(&options, &mut tally);
            Ok(())
        }
        Chore::Test => setup::run().and_then(|()| {
            gate::run(&gate::Options::default(), &mut tally);
            suites::run(&suites::Options::default(), &mut tally)
        }),
        Chore::Suites(options) => suites::run(&options, &mut tally),
        Chore::Bench(options) => return end(bench::run(&options)),
    };
    if end(done) == ExitCode::FAILURE {
        tally.failed("the chore itself");
    }
    tally.summarise()
}

/// The exit code of a chore; says why it failed.
fn end(done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
