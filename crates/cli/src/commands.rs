//! One file a command.

mod bench;
mod format;
mod fsck;
mod gc;
mod generate;
mod info;
mod meant;
mod mount;
mod offline;
mod profile;
mod shut_out;
mod stats;
mod status;
mod target;
mod transfer;
mod umount;
mod undelete;
mod uploads;
mod versions;
mod warmup;

use crate::args::{Cli, Command};
use crate::daemon::log::Log;
use crate::failure::{Failure, Outcome};
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

/// Does what `cli` says.
pub(crate) fn run(cli: Cli) -> Outcome<ExitCode> {
    // The process behind a mount logs elsewhere, and starts to after it has forked.
    if !matches!(cli.command, Command::Mount(_)) {
        Log::of_command(cli.verbose).start()?;
    }
    match cli.command {
        Command::Format(args) => format::run(&args).map(done),
        Command::Mount(args) => mount::run(*args).map(done),
        Command::Umount(args) => umount::run(&args).map(done),
        Command::Status(args) => status::run(&args).map(done),
        Command::Stats(args) => stats::run(&args).map(done),
        Command::Profile(args) => profile::run(&args).map(done),
        Command::Bench(args) => bench::run(&args).map(done),
        Command::Warmup(args) => warmup::run(&args),
        Command::Info(args) => info::run(&args).map(done),
        Command::Fsck(args) => fsck::run(&args),
        Command::Gc(args) => gc::run(&args).map(done),
        Command::Import(args) => transfer::import(&args),
        Command::Export(args) => transfer::export(&args),
        Command::Versions(args) => versions::run(&args).map(done),
        Command::Undelete(args) => undelete::run(&args),
        Command::Uploads(args) => uploads::run(&args),
        Command::Completions(args) => {
            generate::completions(&args);
            Ok(ExitCode::SUCCESS)
        }
        Command::Man(args) => generate::man(&args).map(done),
    }
}

/// A runtime for this process. To be made after any fork.
pub(crate) fn runtime() -> Outcome<Runtime> {
    Builder::new_multi_thread().enable_all().build().map_err(|error| Failure::because("can't start threads", &error))
}

/// Runs `work`, and waits no longer for anything that it began: what blocks in a call of a mount may do so for as long as its store is away.
pub(crate) fn leave_behind<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = runtime()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

fn done((): ()) -> ExitCode {
    ExitCode::SUCCESS
}
