//! What operations cost in a small volume and in a large one: rows of the two come in pairs.

use super::{Row, Scenario, row};
use crate::data::Slice;
use crate::figure::Figure;
use crate::place::drop_caches;
use crate::session::Session;
use crate::systems::{Object, PARALLEL_SMALL, RawCommand};
use anyhow::{Result, ensure};
use std::fs;
use std::path::PathBuf;

const SMALL_ROWS: &[Row] = &[
    row("growth-1k-first", "1,000 stats in a volume of 1,000 files, the first after it was mounted"),
    row("growth-1k-lookup", "1,000 stats in a volume of 1,000 files, again, not known to the kernel"),
    row("growth-1k-read", "1,000 files read in a volume of 1,000 files"),
    row("growth-1k-create", "1,000 files created in a volume of 1,000 files"),
    row("growth-1k-rename", "1,000 files renamed in a volume of 1,000 files"),
];
const LARGE_ROWS: &[Row] = &[
    row("growth-1m-first", "1,000 stats in a volume of 1,000,000 files, the first after it was mounted"),
    row("growth-1m-lookup", "1,000 stats in a volume of 1,000,000 files, again, not known to the kernel"),
    row("growth-1m-read", "1,000 files read in a volume of 1,000,000 files"),
    row("growth-1m-create", "1,000 files created in a volume of 1,000,000 files"),
    row("growth-1m-rename", "1,000 files renamed in a volume of 1,000,000 files"),
];

pub(super) const SMALL: Scenario =
    Scenario { name: "growth-1k", rows: SMALL_ROWS, run: |session| run(session, SMALL_ROWS, 1), raw: None };
pub(super) const LARGE: Scenario =
    Scenario { name: "growth-1m", rows: LARGE_ROWS, run: |session| run(session, LARGE_ROWS, 1000), raw: None };

/// Files in a directory.
const FILES: usize = 1000;
/// What each holds.
const CONTENT: Slice = Slice { start: 0, len: 100 };

fn run(session: &mut Session<'_, '_>, rows: &[Row], directories: usize) -> Result<()> {
    plant(session, directories)?;
    session.place.cool()?;
    let files = files(session, directories / 2);
    let [first, again, read, create, rename] = rows else { anyhow::bail!("rows without a measurement") };

    let mut figure = each(session, || stat(&files))?;
    if let Some(mounted) = session.place.mounted_in() {
        figure = figure.with("mount ms", mounted.as_secs_f64() * 1000.0);
    }
    session.recorder.record(first.id, figure)?;
    drop_caches()?;
    let figure = each(session, || stat(&files))?;
    session.recorder.record(again.id, figure)?;

    drop_caches()?;
    let expected = session.recorder.data.slice(CONTENT)?;
    let figure = each(session, || {
        files.iter().try_for_each(|path| {
            ensure!(fs::read(path)? == expected, "{} differs", path.display());
            Ok(())
        })
    })?;
    session.recorder.record(read.id, figure)?;

    let new: Vec<PathBuf> = files.iter().map(|path| path.with_extension("new")).collect();
    let figure = each(session, || new.iter().try_for_each(|path| Ok(fs::write(path, expected)?)))?;
    stat(&new)?;
    session.recorder.record(create.id, figure)?;

    let renamed: Vec<PathBuf> = new.iter().map(|path| path.with_extension("renamed")).collect();
    let figure = each(session, || new.iter().zip(&renamed).try_for_each(|(from, to)| Ok(fs::rename(from, to)?)))?;
    stat(&renamed)?;
    session.recorder.record(rename.id, figure)
}

/// Measures an operation on each of the files.
fn each(session: &Session<'_, '_>, work: impl FnOnce() -> Result<()>) -> Result<Figure> {
    let (figure, ()) = session.timed(|_| work())?;
    let micros = figure.seconds * 1e6 / FILES as f64;
    Ok(figure.with("us each", micros))
}

fn stat(files: &[PathBuf]) -> Result<()> {
    files.iter().try_for_each(|path| {
        ensure!(fs::metadata(path)?.len() == CONTENT.len as u64, "{} has another size", path.display());
        Ok(())
    })
}

fn files(session: &Session<'_, '_>, directory: usize) -> Vec<PathBuf> {
    (0..FILES).map(|number| session.place.path(name(directory, number))).collect()
}

fn name(directory: usize, number: usize) -> String {
    format!("{directory}/{number}")
}

/// Makes the files; where files are objects, by requests: through some mounts it would take longer than all else.
fn plant(session: &mut Session<'_, '_>, directories: usize) -> Result<()> {
    if let Some(mut raw) = session.raw_access()? {
        raw.run(&RawCommand::Load { len: session.recorder.data.len(), text: false })?;
        for directory in 0..directories {
            let object = |number| Object { key: name(directory, number), content: CONTENT };
            raw.run(&RawCommand::Put { objects: (0..FILES).map(object).collect(), parallel: PARALLEL_SMALL })?;
        }
        return Ok(());
    }
    let content = session.recorder.data.slice(CONTENT)?;
    for directory in 0..directories {
        fs::create_dir(session.place.path(directory.to_string()))?;
        files(session, directory).iter().try_for_each(|path| fs::write(path, content))?;
    }
    Ok(())
}
