//! Measuring: the work is in the crate `stoa-benches`.

use crate::{setup, shell};
use anyhow::Result;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Passed on; try `--help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Builds the release binary and measures it beside its peers, which are installed first.
pub(crate) fn run(options: &Options) -> Result<()> {
    setup::run()?;
    setup::peers()?;
    shell::run(shell::cargo().args(["build", "--release", "--quiet", "--package", "stoa"]))?;
    let mut bench = shell::cargo();
    bench.args(["run", "--release", "--quiet", "--package", "stoa-benches", "--"]).args(&options.args);
    shell::run(bench.env("STOA_BIN", shell::workspace().join("target/release/stoa")))
}
