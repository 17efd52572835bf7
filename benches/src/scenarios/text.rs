//! A large file that compresses; the one that does not is that of `large`.

use super::large::objects;
use super::{Row, Scenario, row};
use crate::io;
use crate::session::{RawSession, Session};
use crate::systems::{PARALLEL, RawCommand};
use anyhow::Result;

const ROWS: &[Row] = &[
    row("text-write", "{large} of text (compressible), write + fsync"),
    row("text-read", "{large} of text (compressible), read, cold"),
];

pub(super) const SCENARIO: Scenario = Scenario { name: "text", rows: ROWS, run, raw: Some(raw) };

fn run(session: &mut Session<'_, '_>) -> Result<()> {
    let (content, path) = (session.recorder.data.text(), session.place.path("text"));
    let (write, ()) = session.timed(|place| {
        io::write_durably(&path, content)?;
        place.finish_fsync()
    })?;
    let (read, ()) = session.timed_cold(|_| io::read(&path, content.len()))?;
    io::verify(&path, content)?;
    session.recorder.record("text-write", write)?;
    session.recorder.record("text-read", read)
}

fn raw(session: &mut RawSession<'_, '_>) -> Result<()> {
    let len = session.recorder.data.len();
    session.raw.run(&RawCommand::Load { len, text: true })?;
    let objects = objects(session.whole, "raw/text", len);
    let (put, _) = session.timed(&RawCommand::Put { objects: objects.clone(), parallel: PARALLEL })?;
    let (get, _) = session.timed(&RawCommand::Get { objects: objects.clone(), parallel: PARALLEL })?;
    session.raw.run(&RawCommand::Verify { objects })?;
    session.recorder.record("text-write", put)?;
    session.recorder.record("text-read", get)
}
