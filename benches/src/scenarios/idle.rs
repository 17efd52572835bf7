//! A mount that nobody uses.

use super::{Row, Scenario, row};
use crate::session::Session;
use anyhow::Result;
use std::fs;
use std::thread::sleep;

const ROWS: &[Row] = &[row("idle", "mounted and left alone for {idle} s")];

pub(super) const SCENARIO: Scenario = Scenario { name: "idle", rows: ROWS, run, raw: None };

fn run(session: &mut Session<'_, '_>) -> Result<()> {
    // It has something to care for, and was used.
    let dir = session.place.path("used");
    fs::create_dir(&dir)?;
    for number in 0..600 {
        fs::write(dir.join(number.to_string()), b"content")?;
    }
    session.place.cool()?;
    fs::read(dir.join("0"))?;
    session.place.make_durable()?;
    let idle = session.recorder.idle;
    session.recorder.allow_also(idle);
    let (figure, ()) = session.timed(|_| {
        sleep(idle);
        Ok(())
    })?;
    fs::read(dir.join("1"))?;
    session.recorder.record("idle", figure)
}
