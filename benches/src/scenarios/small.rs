//! Many small files.

use super::{Row, Scenario, row};
use crate::data::PAGE;
use crate::session::{RawSession, Session};
use crate::systems::{Object, PARALLEL_SMALL, RawCommand};
use anyhow::Result;
use std::fs;
use stoa_tests::content;

const FEW_ROWS: &[Row] = &[row("create-2000", "create 2,000 files of 4 KiB + sync")];
const MANY_ROWS: &[Row] = &[row("create-10000", "create 10,000 files of 4 KiB + sync")];

pub(super) const FEW: Scenario = Scenario {
    name: "create-2000",
    rows: FEW_ROWS,
    run: |session| create(session, "create-2000", 2000),
    raw: Some(|session| put(session, "create-2000", 2000)),
};

pub(super) const MANY: Scenario = Scenario {
    name: "create-10000",
    rows: MANY_ROWS,
    run: |session| create(session, "create-10000", 10_000),
    raw: Some(|session| put(session, "create-10000", 10_000)),
};

fn create(session: &mut Session<'_, '_>, row: &'static str, count: usize) -> Result<()> {
    let (data, dir) = (session.recorder.data, session.place.path("small"));
    let contents = (0..count).map(|number| data.slice(data.file(number, PAGE)?)).collect::<Result<Vec<_>>>()?;
    let (figure, ()) = session.timed(|place| {
        fs::create_dir(&dir)?;
        for (number, bytes) in contents.iter().enumerate() {
            fs::write(dir.join(number.to_string()), bytes)?;
        }
        place.make_durable()
    })?;
    session.place.cool()?;
    for (number, bytes) in contents.iter().enumerate() {
        content::check(&dir.join(number.to_string()), bytes)?;
    }
    session.recorder.record(row, figure)
}

fn put(session: &mut RawSession<'_, '_>, row: &'static str, count: usize) -> Result<()> {
    let data = session.recorder.data;
    session.raw.run(&RawCommand::Load { len: data.len(), text: false })?;
    let object = |number| Ok(Object { key: format!("raw/small/{number}"), content: data.file(number, PAGE)? });
    let objects = (0..count).map(object).collect::<Result<Vec<_>>>()?;
    let (figure, _) = session.timed(&RawCommand::Put { objects: objects.clone(), parallel: PARALLEL_SMALL })?;
    session.raw.run(&RawCommand::Verify { objects })?;
    session.recorder.record(row, figure)
}
