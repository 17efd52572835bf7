//! A source tree of files alone, as objects can keep it: copied, searched, removed.

use super::{Row, Scenario, row};
use crate::session::Session;
use anyhow::{Result, ensure};
use std::path::Path;
use std::time::Duration;
use stoa_tests::command::{program, run as run_program, shell};
use stoa_tests::tree;

const ROWS: &[Row] = &[
    row("copy", "`cp -r` of 2,000 source files + sync"),
    row("copy-find", "`find -size` in that tree, cold"),
    row("copy-rm", "`rm -r` of that tree + sync, cold"),
];

pub(super) const SCENARIO: Scenario = Scenario { name: "copy", rows: ROWS, run, raw: None };

const FILES: u64 = 2000;
/// Rows have limits of their own, which end the programs' mounts.
const LIMIT: Duration = Duration::from_secs(24 * 3600);

fn run(session: &mut Session<'_, '_>) -> Result<()> {
    let source = session.recorder.scratch.join("plain/tree");
    tree::plant(&source, FILES, 6)?;
    shell("find . -type l -delete", &source, LIMIT)?;
    let dir = session.place.path("tree");

    let (copy, _) = session.timed(|place| {
        run_program(program("cp").arg("-r").args([&source, &dir]), LIMIT)?;
        place.make_durable()
    })?;
    let (find, found) =
        session.timed_cold(|_| run_program(program("find").arg(&dir).args(["-size", "-1000000k"]), LIMIT))?;
    compare(&source, &dir)?;
    session.recorder.record("copy", copy)?;
    let expected = shell("find .", &source, LIMIT)?;
    ensure!(found.lines().count() == expected.lines().count(), "find: {} entries", found.lines().count());
    session.recorder.record("copy-find", find)?;

    let (rm, ()) = session.timed_cold(|place| {
        run_program(program("rm").arg("-r").arg(&dir), LIMIT)?;
        place.make_durable()
    })?;
    session.place.cool()?;
    ensure!(!dir.exists(), "the tree is still there");
    session.recorder.record("copy-rm", rm)
}

/// # Errors
/// The first file that is not what it was.
fn compare(source: &Path, copy: &Path) -> Result<()> {
    run_program(program("diff").arg("-r").args([source, copy]), LIMIT).map(drop)
}
