//! The suites on real mounts.

use crate::tally::Tally;
use crate::{setup, shell};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A suite, and how many of its tests run at a time: those that measure out all of a machine run alone.
const SUITES: [(&str, &str); 5] = [("promises", "2"), ("bucket", "1"), ("posix", "1"), ("apps", "1"), ("crash", "2")];

#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Full sizes: fsx 500,000 operations x 3 seeds, 1,000 crashes, larger trees
    #[arg(long)]
    long: bool,
    /// Test this directory instead of a volume: proves the suites on a local file system
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// promises, bucket, posix, apps, crash, or part of a test's name; all suites if not given
    names: Vec<String>,
}

/// Builds the binary and runs the suites.
pub(crate) fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    setup::run()?;
    sweep_dead()?;
    let scratch = Scratch::new()?;
    let scratch = scratch.0.as_path();
    let (stores, not_run) = (scratch.join("stores-used"), scratch.join("not-run"));
    let binary = build(options.long)?;
    for (suite, threads) in SUITES {
        let Some(filter) = filter(suite, &options.names) else { continue };
        // A directory has no objects.
        if suite == "bucket" && options.dir.is_some() {
            continue;
        }
        let mut test = shell::cargo();
        test.args(["test", "--quiet", "--package", "stoa-tests", "--no-fail-fast", "--test", suite, "--"]);
        // Not the short form of libtest: the tally reads names.
        test.args(["--format=pretty", "--test-threads", threads]).args(filter);
        test.env("STOA_BIN", &binary).env("STOA_SUITE_SCRATCH", scratch).env("STOA_SUITE_STORES_USED", &stores);
        test.env("STOA_SUITE_NOT_RUN", &not_run);
        test.env("RUST_BACKTRACE", "0");
        if options.long {
            test.env("STOA_SUITE_LONG", "1");
        }
        if let Some(dir) = &options.dir {
            test.env("STOA_SUITE_DIR", dir);
        }
        let (output, success) = shell::watched(&mut test)?;
        tally.read_cargo_test(suite, &output, success);
    }
    report_stores(&stores);
    for test in std::fs::read_to_string(&not_run).unwrap_or_default().lines() {
        println!("NOT RUN {test}");
    }
    Ok(())
}

/// The start of the name of scratch directories; the rest is the number of the process that made it. Not one that `stoa` gives its own
/// directories in the same place.
const SCRATCH: &str = "stoatest-";

/// A directory for one run. Its name is short, because the name of a socket in a test's directory has 107 bytes at most.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("{SCRATCH}{}", std::process::id()));
        std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        // Users that a suite switches to must reach its mounts.
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = sweep(&self.0) {
            eprintln!("{}: {error:#}", self.0.display());
        }
    }
}

/// Takes away what runs that were killed left. What can't be, of another user perhaps, is in nobody's way.
fn sweep_dead() -> Result<()> {
    for entry in std::fs::read_dir(std::env::temp_dir())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let maker = name.strip_prefix(SCRATCH).and_then(|pid| pid.parse::<u32>().ok());
        if maker.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
            && let Err(error) = sweep(&entry.path())
        {
            eprintln!("{}: {error:#}", entry.path().display());
        }
    }
    Ok(())
}

/// Which tests of a suite the names ask for: `None` for no test, an empty list for all.
fn filter<'a>(suite: &str, names: &'a [String]) -> Option<Vec<&'a str>> {
    let is_suite = |name: &str| SUITES.iter().any(|(suite, _)| *suite == name);
    if names.is_empty() || names.iter().any(|name| name == suite) {
        return Some(Vec::new());
    }
    let parts: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_suite(name)).collect();
    (!parts.is_empty()).then_some(parts)
}

/// The binary that is tested. CI's is the one its unit tests were built with: debug assertions are on, and nothing is
/// built twice; the long run tests what is shipped.
fn build(release: bool) -> Result<PathBuf> {
    let mut build = shell::cargo();
    build.args(["build", "--quiet", "--package", "stoa"]);
    if release {
        build.arg("--release");
    }
    shell::run(&mut build)?;
    let binary = shell::workspace().join(if release { "target/release/stoa" } else { "target/debug/stoa" });
    if !binary.exists() {
        bail!("{} was not built", binary.display());
    }
    Ok(binary)
}

/// Removes a scratch directory, and before that what a killed test process left mounted in it.
fn sweep(scratch: &Path) -> Result<()> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").context("the list of mounts")?;
    let ours =
        mounts.lines().filter_map(|line| line.split(' ').nth(4)).filter(|dir| Path::new(dir).starts_with(scratch));
    for dir in ours {
        println!("a killed test left {dir} mounted");
        shell::run(std::process::Command::new("umount").args(["--lazy", dir]))?;
    }
    std::fs::remove_dir_all(scratch).with_context(|| scratch.display().to_string())
}

fn report_stores(list: &Path) {
    let mut volumes: BTreeMap<String, u64> = BTreeMap::new();
    for line in std::fs::read_to_string(list).unwrap_or_default().lines() {
        *volumes.entry(line.to_owned()).or_default() += 1;
    }
    for (store, count) in volumes {
        println!("{count} volumes were in {store}");
    }
}
