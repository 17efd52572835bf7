//! The checks that every commit passes.

mod layers;
mod licences;
mod sizes;

use crate::shell;
use crate::tally::Tally;
use anyhow::Result;
use clap::Args;

#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Some of the checks alone
    #[arg(value_parser = ["formatting", "clippy", "layering", "sizes", "licences", "documentation", "tests"])]
    checks: Vec<String>,
}

type Check = fn() -> Result<()>;

/// Runs all checks, also after one fails, and the tests of all crates but the suites.
pub(crate) fn run(options: &Options, tally: &mut Tally) {
    let wanted = |name: &str| options.checks.is_empty() || options.checks.iter().any(|check| check == name);
    let checks: [(&str, Check); 6] = [
        ("formatting", formatting),
        ("clippy", clippy),
        ("layering", layers::check),
        ("sizes", sizes::check),
        ("licences", licences::check),
        ("documentation", documentation),
    ];
    for (name, check) in checks.into_iter().filter(|(name, _)| wanted(name)) {
        match check() {
            Ok(()) => tally.passed(),
            Err(error) => {
                eprintln!("{name}: {error:#}");
                tally.failed(name);
            }
        }
    }
    if wanted("tests") {
        unit_tests(tally);
    }
}

fn formatting() -> Result<()> {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Result<()> {
    shell::run(shell::cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn documentation() -> Result<()> {
    let mut doc = shell::cargo();
    doc.env("RUSTDOCFLAGS", "-D warnings").args([
        "doc",
        "--quiet",
        "--workspace",
        "--no-deps",
        "--document-private-items",
    ]);
    shell::run(&mut doc)
}

/// Features that only tests use are on: what is behind them is tested too.
fn unit_tests(tally: &mut Tally) {
    let mut test = shell::cargo();
    test.args([
        "test",
        "--workspace",
        "--exclude",
        "stoa-tests",
        "--features",
        "stoa-objects/testing",
        "--no-fail-fast",
    ]);
    match shell::watched(&mut test) {
        Ok((output, success)) => tally.read_cargo_test("unit tests", &output, success),
        Err(error) => tally.failed(format!("unit tests: {error:#}")),
    }
    // The harness of the suites has tests of its own, which need no mount.
    match shell::watched(shell::cargo().args(["test", "--package", "stoa-tests", "--lib", "--no-fail-fast"])) {
        Ok((output, success)) => tally.read_cargo_test("harness", &output, success),
        Err(error) => tally.failed(format!("harness: {error:#}")),
    }
}
