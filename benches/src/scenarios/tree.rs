//! A source tree: unpacked, searched, removed.

use super::{Row, Scenario, row};
use crate::session::Session;
use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stoa_tests::command::{program, run as run_program, shell};
use stoa_tests::tree;

const ROWS: &[Row] = &[
    row("untar", "untar 8,400 entries + sync"),
    row("find", "`find -size` in that tree, cold"),
    row("grep", "`grep -r` in that tree, cold"),
    row("rm", "`rm -rf` of that tree + sync, cold"),
];

pub(super) const SCENARIO: Scenario = Scenario { name: "tree", rows: ROWS, run, raw: None };

const FILES: u64 = 8000;
/// Rows have limits of their own, which end the programs' mounts.
const LIMIT: Duration = Duration::from_secs(24 * 3600);
/// Stands in one file.
const NEEDLE: &str = "a needle in this tree";

fn run(session: &mut Session<'_, '_>) -> Result<()> {
    let (source, archive) = plant(session.recorder.scratch)?;
    let expected = survey(&source)?;
    let dir = session.place.path("tree");

    let (untar, ()) = session.timed(|place| {
        run_program(program("tar").arg("-xf").arg(&archive).arg("-C").arg(place.dir()), LIMIT)?;
        place.make_durable()
    })?;
    // With -size every inode is looked at, as most uses of find do.
    let (find, found) =
        session.timed_cold(|_| run_program(program("find").arg(&dir).args(["-size", "-1000000k"]), LIMIT))?;
    let (grep, hits) = session.timed_cold(|_| run_program(program("grep").args(["-rlF", NEEDLE]).arg(&dir), LIMIT))?;
    let actual = survey(&dir)?;
    let different = expected.iter().find(|(path, content)| actual.get(*path) != Some(content));
    ensure!(different.is_none() && actual.len() == expected.len(), "the tree differs: {different:?}");
    session.recorder.record("untar", untar)?;
    ensure!(found.lines().count() == expected.len(), "find: {} of {}", found.lines().count(), expected.len());
    session.recorder.record("find", find)?;
    ensure!(hits.lines().count() == 1, "grep: {hits}");
    session.recorder.record("grep", grep)?;

    let (rm, ()) = session.timed_cold(|place| {
        run_program(program("rm").arg("-rf").arg(&dir), LIMIT)?;
        place.make_durable()
    })?;
    session.place.cool()?;
    ensure!(!dir.exists(), "the tree is still there");
    session.recorder.record("rm", rm)
}

/// Makes the tree on the local file system, and an archive of it.
fn plant(scratch: &Path) -> Result<(PathBuf, PathBuf)> {
    let (source, archive) = (scratch.join("source/tree"), scratch.join("source/tree.tar"));
    tree::plant(&source, FILES, 5)?;
    fs::write(source.join("needle.txt"), NEEDLE)?;
    shell("tar -cf tree.tar tree", &scratch.join("source"), LIMIT)?;
    Ok((source, archive))
}

/// Names, sizes, contents and targets of symlinks: what every system must keep.
fn survey(root: &Path) -> Result<BTreeMap<PathBuf, (u64, String)>> {
    let nodes = tree::survey(root)?.into_iter();
    Ok(nodes.map(|(path, node)| (path, (node.size, node.content))).collect())
}
