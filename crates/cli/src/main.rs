//! The binary `stoa`: reads the command line, runs one command, prints what came of it.
//!
//! This is the only crate that sees both ends, stores and doors, and the only one that prints, forks or reads the
//! environment. `invocation` turns argv into [`args::Cli`]; `commands` holds one file a command; `daemon` is the process
//! behind a mount, and `control` is how the commands talk to it.

mod allocator;
mod args;
mod commands;
mod control;
mod daemon;
mod failure;
mod invocation;
mod metrics;
mod mount_options;
mod mounts;
mod output;
mod owner;
mod resources;
mod store;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::give_back_after(allocator::KEPT_LEAST);
    let invoked = match invocation::read(std::env::args_os().collect()) {
        Ok(invoked) => invoked,
        Err(invocation::Refused::Clap(error)) => {
            // clap prints help and version to stdout, mistakes to stderr. A closed pipe is nothing to report.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::USAGE));
        }
        Err(invocation::Refused::Failure(failure)) => {
            output::failure(&failure, 0);
            return ExitCode::from(failure.code());
        }
    };
    let verbose = invoked.cli.verbose;
    match commands::run(invoked.cli).and_then(|code| output::check().map(|()| code)) {
        Ok(code) => code,
        Err(failure) => {
            output::failure(&failure, verbose);
            ExitCode::from(invoked.failure_code.unwrap_or(failure.code()))
        }
    }
}
