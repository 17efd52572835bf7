//! One large file.

use super::{Row, Scenario, row};
use crate::data::{PAGE, Slice};
use crate::figure::Figure;
use crate::io;
use crate::place::drop_caches;
use crate::session::{RawSession, Session};
use crate::systems::{OBJECT_BYTES, Object, PARALLEL, Raw, RawCommand};
use anyhow::{Context, Error, Result, anyhow};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;
use stoa_tests::content::same;

const ROWS: &[Row] = &[
    row("write", "{large} sequential write + fsync"),
    row("read-cold", "{large} sequential read, cold"),
    row("read-warm", "{large} sequential read, warm"),
    row("read-random", "256 random 4 KiB reads in {large}, cold"),
];

pub(super) const SCENARIO: Scenario = Scenario { name: "large", rows: ROWS, run, raw: Some(raw) };

const READS: usize = 256;
const SEED: u64 = 4;

fn run(session: &mut Session<'_, '_>) -> Result<()> {
    let data = session.recorder.data;
    let (content, path) = (data.random(), session.place.path("large"));
    let (written, ()) = session.timed(|place| {
        io::write_durably(&path, content)?;
        place.finish_fsync()
    })?;
    let (cold, ()) = session.timed_cold(|_| io::read(&path, content.len()))?;
    let (warm, ()) = session.timed(|_| io::read(&path, content.len()))?;
    io::verify(&path, content)?;
    session.recorder.record("write", written)?;
    session.recorder.record("read-cold", cold)?;
    session.recorder.record("read-warm", warm)?;
    if !session.recorder.wants(&["read-random"]) {
        return Ok(());
    }
    let offsets = data.offsets(READS, SEED);
    let mut pages = vec![[0; PAGE]; READS];
    let (figure, seconds) = session.timed_cold(|_| {
        let file = File::open(&path)?;
        let read = |(page, &offset): (&mut [u8; PAGE], &usize)| {
            let started = Instant::now();
            file.read_exact_at(page, offset as u64)?;
            Ok(started.elapsed().as_secs_f64())
        };
        pages.iter_mut().zip(&offsets).map(read).collect::<Result<Vec<f64>>>()
    })?;
    for (page, &offset) in pages.iter().zip(&offsets) {
        same(page, content.get(offset..offset + PAGE).context("offset")?)?;
    }
    session.recorder.record("read-random", with_latencies(figure, seconds))
}

fn raw(session: &mut RawSession<'_, '_>) -> Result<()> {
    let data = session.recorder.data;
    session.raw.run(&RawCommand::Load { len: data.len(), text: false })?;
    let objects = objects(session.whole, "raw/large", data.len());
    let (put, _) = session.timed(&RawCommand::Put { objects: objects.clone(), parallel: PARALLEL })?;
    let (get, _) = session.timed(&RawCommand::Get { objects: objects.clone(), parallel: PARALLEL })?;
    session.raw.run(&RawCommand::Verify { objects: objects.clone() })?;
    session.recorder.record("write", put)?;
    session.recorder.record("read-cold", get)?;
    let page = |start: usize| {
        let object = objects.iter().rfind(|object| object.content.start <= start).context("offset")?;
        let page = Object { key: object.key.clone(), content: Slice { start, len: PAGE } };
        Ok((page, (start - object.content.start) as u64))
    };
    let pages = data.offsets(READS, SEED).into_iter().map(page).collect::<Result<_>>()?;
    let (figure, answer) = session.timed(&RawCommand::GetPages { pages })?;
    session.recorder.record("read-random", with_latencies(figure, answer.seconds))
}

/// What a file system takes at least that sends each byte as a request and gets it through the kernel's interface, if its own work is nothing and
/// one never waits for the other.
pub(super) fn both(session: &mut Session<'_, '_>, raw: &mut Raw) -> Result<()> {
    let data = session.recorder.data;
    raw.run(&RawCommand::Load { len: data.len(), text: false })?;
    let (content, path, objects) =
        (data.random(), session.place.path("large"), objects(false, "both/large", data.len()));
    let mut at_once = |command, with_files: &(dyn Fn() -> Result<()> + Sync), session: &Session<'_, '_>| {
        drop_caches()?;
        let (figure, ()) = session.timed(|_| {
            std::thread::scope(|scope| {
                let requests = scope.spawn(|| raw.run(&command));
                with_files()?;
                requests.join().map_err(|_| anyhow!("the requests ended early"))??;
                Ok(())
            })
        })?;
        Ok::<Figure, Error>(figure)
    };
    let put = RawCommand::Put { objects: objects.clone(), parallel: PARALLEL };
    let written = at_once(put, &|| io::write_durably(&path, content), session)?;
    let get = RawCommand::Get { objects: objects.clone(), parallel: PARALLEL };
    let read = at_once(get, &|| io::read(&path, content.len()), session)?;
    raw.run(&RawCommand::Verify { objects })?;
    io::verify(&path, content)?;
    session.recorder.record("write", written)?;
    session.recorder.record("read-cold", read)
}

/// A file of `len` bytes, as one whole object, or as objects of the size of segments.
pub(super) fn objects(whole: bool, name: &str, len: usize) -> Vec<Object> {
    let step = if whole { len } else { OBJECT_BYTES };
    let slice = |start| Slice { start, len: step.min(len - start) };
    let starts = (0..len).step_by(step);
    starts.map(|start| Object { key: format!("{name}/{start}"), content: slice(start) }).collect()
}

fn with_latencies(figure: Figure, mut seconds: Vec<f64>) -> Figure {
    seconds.sort_by(f64::total_cmp);
    let at = |share: usize| seconds.get(seconds.len() * share / 100).copied().unwrap_or_default() * 1000.0;
    let fetched = figure.traffic.map(|traffic| traffic.received as f64 / 1024.0 / seconds.len() as f64);
    let figure = figure.with("median ms", at(50)).with("p99 ms", at(99));
    fetched.into_iter().fold(figure, |figure, kib| figure.with("KiB fetched each", kib))
}
