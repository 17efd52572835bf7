//! A large file that is written to at random, and what that does to reading it.

use super::{Row, Scenario, row};
use crate::data::PAGE;
use crate::io;
use crate::session::Session;
use anyhow::{Context, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

const ROWS: &[Row] = &[
    row("rewrite", "random 4 KiB writes over {large} for {writing} s + fsync"),
    row("rewrite-read", "sequential read of that file, cold"),
];

pub(super) const SCENARIO: Scenario = Scenario { name: "rewrite", rows: ROWS, run, raw: None };

const SEED: u64 = 7;
/// Offsets are drawn before the clock runs; after so many they come again, with other content.
const OFFSETS: usize = 1 << 20;

fn run(session: &mut Session<'_, '_>) -> Result<()> {
    let (data, path) = (session.recorder.data, session.place.path("large"));
    let mut expected = data.random().to_vec();
    io::write_durably(&path, &expected)?;
    session.place.finish_fsync()?;
    let offsets = data.offsets(OFFSETS, SEED);
    let writing = session.recorder.writing;

    let (write, count) = session.timed(|place| {
        let file = File::options().write(true).open(&path)?;
        let count = write_for(writing, &file, &offsets, data.random())?;
        file.sync_all()?;
        drop(file);
        place.finish_fsync()?;
        Ok(count)
    })?;
    let (read, ()) = session.timed_cold(|_| io::read(&path, expected.len()))?;
    for (number, &offset) in (0..count).zip(offsets.iter().cycle()) {
        let page = expected.get_mut(offset..offset + PAGE).context("offset")?;
        page.copy_from_slice(page_of(data.random(), number)?);
    }
    io::verify(&path, &expected)?;
    let rate = count as f64 / write.seconds;
    session.recorder.record("rewrite", write.with("writes/s with fsync", rate))?;
    session.recorder.record("rewrite-read", read)
}

/// Writes pages until the time is over, and returns how many.
fn write_for(time: Duration, file: &File, offsets: &[usize], random: &[u8]) -> Result<usize> {
    let end = Instant::now() + time;
    for (number, &offset) in offsets.iter().cycle().enumerate() {
        if Instant::now() >= end {
            return Ok(number);
        }
        file.write_all_at(page_of(random, number)?, offset as u64)?;
    }
    Ok(0)
}

/// What write `number` writes: never what was there.
fn page_of(random: &[u8], number: usize) -> Result<&[u8]> {
    // Off by one from every page of the file.
    let start = (number % (random.len() / PAGE - 1)) * PAGE + 1;
    random.get(start..start + PAGE).context("page")
}
