//! Large directories.

use super::{Row, Scenario, row};
use crate::data::Slice;
use crate::figure::Figure;
use crate::session::Session;
use crate::systems::{Object, PARALLEL_SMALL, RawCommand};
use anyhow::{Result, ensure};
use std::fs::{self, File};
use std::time::Duration;
use stoa_tests::command::{program, run};

const TEN: &[Row] = &[
    row("ls-10k-cold", "`ls` of 10,000 entries, cold"),
    row("ls-10k-warm", "`ls` of 10,000 entries, warm"),
    row("ls-l-10k-cold", "`ls -l` of 10,000 entries, cold"),
    row("ls-l-10k-warm", "`ls -l` of 10,000 entries, warm"),
];
const HUNDRED: &[Row] = &[
    row("ls-100k-cold", "`ls` of 100,000 entries, cold"),
    row("ls-100k-warm", "`ls` of 100,000 entries, warm"),
    row("ls-l-100k-cold", "`ls -l` of 100,000 entries, cold"),
    row("ls-l-100k-warm", "`ls -l` of 100,000 entries, warm"),
];

pub(super) const TEN_THOUSAND: Scenario =
    Scenario { name: "list-10k", rows: TEN, run: |session| list(session, TEN, 10_000), raw: None };
pub(super) const HUNDRED_THOUSAND: Scenario =
    Scenario { name: "list-100k", rows: HUNDRED, run: |session| list(session, HUNDRED, 100_000), raw: None };

/// Rows have limits of their own, which end the program's mount.
const LIMIT: Duration = Duration::from_secs(24 * 3600);

fn list(session: &mut Session<'_, '_>, rows: &[Row], count: usize) -> Result<()> {
    plant(session, count)?;
    for (row, (long, cold)) in rows.iter().zip([(false, true), (false, false), (true, true), (true, false)]) {
        let figure = ls(session, count, long, cold)?;
        session.recorder.record(row.id, figure)?;
    }
    Ok(())
}

fn ls(session: &mut Session<'_, '_>, count: usize, long: bool, cold: bool) -> Result<Figure> {
    if cold {
        session.place.cool()?;
    }
    let dir = session.place.path("entries");
    let (figure, found) = session.timed(|_| {
        let mut ls = program("ls");
        // Sorting by the rules of a language would be most of the time.
        run(ls.env("LC_ALL", "C").args(long.then_some("-l")).arg(&dir), LIMIT)
    })?;
    // With -l the first line is the total.
    let expected = count + usize::from(long);
    ensure!(found.lines().count() == expected, "ls: {} lines of {expected}", found.lines().count());
    Ok(figure)
}

/// Makes empty files; where files are objects, by requests: through some mounts it would take longer than all else.
fn plant(session: &mut Session<'_, '_>, count: usize) -> Result<()> {
    if let Some(mut raw) = session.raw_access()? {
        let object = |number| Object { key: format!("entries/{number}"), content: Slice { start: 0, len: 0 } };
        raw.run(&RawCommand::Put { objects: (0..count).map(object).collect(), parallel: PARALLEL_SMALL })?;
        return Ok(());
    }
    let dir = session.place.path("entries");
    fs::create_dir(&dir)?;
    for number in 0..count {
        File::create(dir.join(number.to_string()))?;
    }
    Ok(())
}
