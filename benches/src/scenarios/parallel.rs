//! Several files at once.

use super::large::objects;
use super::{Row, Scenario, row};
use crate::io;
use crate::session::{RawSession, Session};
use crate::systems::{Object, PARALLEL, RawCommand};
use anyhow::{Result, anyhow};
use std::path::PathBuf;
use std::thread;

const FOUR_ROWS: &[Row] = &[
    row("parallel-write", "4 x {fourth} parallel write + fsync"),
    row("parallel-read", "4 x {fourth} parallel read, cold"),
];
const MANY_ROWS: &[Row] = &[
    row("files24-write", "24 files of {sixteenth}, write + fsync of each, serial"),
    row("files24-read", "24 files of {sixteenth}, read, serial, cold"),
    row("files24-parallel-write", "24 files of {sixteenth}, write + fsync, parallel"),
    row("files24-parallel-read", "24 files of {sixteenth}, read, parallel, cold"),
];

pub(super) const FOUR: Scenario = Scenario { name: "parallel", rows: FOUR_ROWS, run: four, raw: Some(raw_four) };
pub(super) const MANY: Scenario = Scenario { name: "files24", rows: MANY_ROWS, run: many, raw: Some(raw_many) };

/// Files that share the size of the large one, as the titles say it for 1 GiB.
const FOURTH: (usize, usize) = (4, 4);
const SIXTEENTH: (usize, usize) = (24, 16);

fn four(session: &mut Session<'_, '_>) -> Result<()> {
    together(session, "four", FOURTH, ["parallel-write", "parallel-read"])
}

fn many(session: &mut Session<'_, '_>) -> Result<()> {
    let files = files(session, "serial", SIXTEENTH)?;
    let (write, ()) = session.timed(|place| {
        files.iter().try_for_each(|(path, content)| io::write_durably(path, content))?;
        place.finish_fsync()
    })?;
    let (read, ()) =
        session.timed_cold(|_| files.iter().try_for_each(|(path, content)| io::read(path, content.len())))?;
    verify(&files)?;
    session.recorder.record("files24-write", write)?;
    session.recorder.record("files24-read", read)?;
    together(session, "parallel", SIXTEENTH, ["files24-parallel-write", "files24-parallel-read"])
}

/// Writes and reads files by one thread each.
fn together(
    session: &mut Session<'_, '_>,
    name: &str,
    shape: (usize, usize),
    [write_row, read_row]: [&'static str; 2],
) -> Result<()> {
    if !session.recorder.wants(&[write_row, read_row]) {
        return Ok(());
    }
    let files = files(session, name, shape)?;
    let (write, ()) = session.timed(|place| {
        in_threads(&files, |path, content| io::write_durably(path, content))?;
        place.finish_fsync()
    })?;
    let (read, ()) = session.timed_cold(|_| in_threads(&files, |path, content| io::read(path, content.len())))?;
    verify(&files)?;
    session.recorder.record(write_row, write)?;
    session.recorder.record(read_row, read)
}

type Files<'a> = Vec<(PathBuf, &'a [u8])>;

fn files<'a>(session: &Session<'_, 'a>, name: &str, (count, part): (usize, usize)) -> Result<Files<'a>> {
    let data = session.recorder.data;
    let file = |number| {
        let content = data.slice(data.file(number, data.len() / part)?)?;
        Ok((session.place.path(format!("{name}-{number}")), content))
    };
    (0..count).map(file).collect()
}

fn in_threads(files: &Files<'_>, work: impl Fn(&PathBuf, &[u8]) -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = files.iter().map(|(path, content)| scope.spawn(move || work(path, content))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

fn verify(files: &Files<'_>) -> Result<()> {
    files.iter().try_for_each(|(path, content)| io::verify(path, content))
}

fn raw_four(session: &mut RawSession<'_, '_>) -> Result<()> {
    raw(session, FOURTH, ["parallel-write", "parallel-read"])
}

fn raw_many(session: &mut RawSession<'_, '_>) -> Result<()> {
    raw(session, SIXTEENTH, ["files24-parallel-write", "files24-parallel-read"])
}

/// All objects of all files in one stream: it is the requests that are parallel.
fn raw(
    session: &mut RawSession<'_, '_>,
    (count, part): (usize, usize),
    [write_row, read_row]: [&'static str; 2],
) -> Result<()> {
    let data = session.recorder.data;
    session.raw.run(&RawCommand::Load { len: data.len(), text: false })?;
    let mut all: Vec<Object> = Vec::new();
    for number in 0..count {
        let file = data.file(number, data.len() / part)?;
        all.extend(objects(session.whole, &format!("raw/{number}"), file.len).into_iter().map(|mut object| {
            object.content.start += file.start;
            object
        }));
    }
    let (put, _) = session.timed(&RawCommand::Put { objects: all.clone(), parallel: PARALLEL })?;
    let (get, _) = session.timed(&RawCommand::Get { objects: all.clone(), parallel: PARALLEL })?;
    session.raw.run(&RawCommand::Verify { objects: all })?;
    session.recorder.record(write_row, put)?;
    session.recorder.record(read_row, get)
}
