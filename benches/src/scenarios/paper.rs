//! The six fio jobs of the s3logfs paper, through the kernel's caches and around them (O_DIRECT).
//!
//! Not by fio itself: 256 operations take less time than fio measures with.

use super::{Row, Scenario, row};
use crate::data::{Data, PAGE};
use crate::figure::Figure;
use crate::io;
use crate::session::Session;
use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use stoa_tests::content;

const CACHED: &[Row] = &[
    row("paper-write-files", "write 32 KiB to each of 100 files"),
    row("paper-create-files", "create 100 files of 4 KiB"),
    row("paper-random-read", "4 KiB random reads in 1 MiB"),
    row("paper-random-write", "4 KiB random writes in 1 MiB"),
    row("paper-read", "4 KiB sequential reads in 1 MiB"),
    row("paper-write", "4 KiB sequential writes in 1 MiB"),
];
const DIRECT: &[Row] = &[
    row("direct-write-files", "write 32 KiB to each of 100 files, O_DIRECT + sync"),
    row("direct-create-files", "create 100 files of 4 KiB, O_DIRECT + sync"),
    row("direct-random-read", "4 KiB random reads in 1 MiB, O_DIRECT, cold"),
    row("direct-random-write", "4 KiB random writes in 1 MiB, O_DIRECT + fsync"),
    row("direct-read", "4 KiB sequential reads in 1 MiB, O_DIRECT, cold"),
    row("direct-write", "4 KiB sequential writes in 1 MiB, O_DIRECT + fsync"),
];

pub(super) const WITH_CACHES: Scenario =
    Scenario { name: "paper", rows: CACHED, run: |session| Jobs::new(session, CACHED, false)?.run(), raw: None };
pub(super) const WITHOUT: Scenario =
    Scenario { name: "direct", rows: DIRECT, run: |session| Jobs::new(session, DIRECT, true)?.run(), raw: None };

const FILES: usize = 100;
const FILE_BYTES: usize = 32 << 10;
const LARGE_BYTES: usize = 1 << 20;

/// Memory as O_DIRECT wants it.
#[repr(align(4096))]
struct Block<const LEN: usize>([u8; LEN]);

struct Jobs<'s, 'r, 'a> {
    session: &'s mut Session<'r, 'a>,
    rows: &'static [Row],
    direct: bool,
    large: PathBuf,
}

impl<'s, 'r, 'a> Jobs<'s, 'r, 'a> {
    fn new(session: &'s mut Session<'r, 'a>, rows: &'static [Row], direct: bool) -> Result<Self> {
        let large = session.place.path("large");
        Ok(Self { session, rows, direct, large })
    }

    fn run(mut self) -> Result<()> {
        self.files::<FILE_BYTES>(0, "files")?;
        self.files::<PAGE>(1, "created")?;
        let data = self.session.recorder.data;
        let content = data.slice(data.file(FILES, LARGE_BYTES)?)?;
        io::write_durably(&self.large, content)?;
        self.session.place.finish_fsync()?;
        self.reads(2, &shuffled(), content)?;
        self.writes(3, &shuffled(), 1)?;
        let written = fs::read(&self.large)?;
        self.reads(4, &in_order(), &written)?;
        self.writes(5, &in_order(), 2)
    }

    /// Makes files of one block each.
    fn files<const LEN: usize>(&mut self, row: usize, name: &str) -> Result<()> {
        let (data, dir, options) = (self.session.recorder.data, self.session.place.path(name), self.options());
        let blocks: Vec<Box<Block<LEN>>> = (0..FILES).map(|number| block(data, number)).collect::<Result<_>>()?;
        fs::create_dir(&dir)?;
        let direct = self.direct;
        let (figure, ()) = self.session.timed(|place| {
            for (number, block) in blocks.iter().enumerate() {
                options.clone().create_new(true).open(dir.join(number.to_string()))?.write_all_at(&block.0, 0)?;
            }
            if direct { place.make_durable() } else { Ok(()) }
        })?;
        self.session.place.cool()?;
        for (number, block) in blocks.iter().enumerate() {
            content::check(&dir.join(number.to_string()), &block.0)?;
        }
        self.record(row, figure, FILES)
    }

    fn reads(&mut self, row: usize, pages: &[usize], expected: &[u8]) -> Result<()> {
        if self.direct {
            self.session.place.cool()?;
        } else {
            io::verify(&self.large, expected)?;
        }
        let mut blocks: Vec<Block<PAGE>> = pages.iter().map(|_| Block([0; PAGE])).collect();
        let (options, large) = (self.options(), self.large.clone());
        let (figure, ()) = self.session.timed(|_| {
            let file = options.open(&large)?;
            let mut reads = blocks.iter_mut().zip(pages);
            Ok(reads.try_for_each(|(block, page)| file.read_exact_at(&mut block.0, (page * PAGE) as u64))?)
        })?;
        for (block, page) in blocks.iter().zip(pages) {
            content::same(&block.0, expected.get(page * PAGE..(page + 1) * PAGE).context("page")?)?;
        }
        self.record(row, figure, pages.len())
    }

    fn writes(&mut self, row: usize, pages: &[usize], round: usize) -> Result<()> {
        let data = self.session.recorder.data;
        let blocks = (0..pages.len()).map(|number| block(data, (round << 10) + number));
        let blocks: Vec<Box<Block<PAGE>>> = blocks.collect::<Result<_>>()?;
        let (options, large, direct) = (self.options(), self.large.clone(), self.direct);
        let (figure, ()) = self.session.timed(|place| {
            let file = options.open(&large)?;
            let mut writes = blocks.iter().zip(pages);
            writes.try_for_each(|(block, page)| file.write_all_at(&block.0, (page * PAGE) as u64))?;
            if direct { fsync(file).and_then(|()| place.finish_fsync()) } else { Ok(()) }
        })?;
        self.session.place.cool()?;
        let mut expected = vec![0; LARGE_BYTES];
        for (block, page) in blocks.iter().zip(pages) {
            expected.get_mut(page * PAGE..(page + 1) * PAGE).context("page")?.copy_from_slice(&block.0);
        }
        io::verify(&self.large, &expected)?;
        self.record(row, figure, pages.len())
    }

    fn options(&self) -> OpenOptions {
        let flags = if self.direct { OFlags::DIRECT } else { OFlags::empty() };
        let mut options = File::options();
        options.read(true).write(true).custom_flags(flags.bits().cast_signed());
        options
    }

    fn record(&mut self, row: usize, figure: Figure, operations: usize) -> Result<()> {
        let rate = operations as f64 / figure.seconds;
        let row = self.rows.get(row).context("row")?;
        self.session.recorder.record(row.id, figure.with("per second", rate))
    }
}

fn fsync(file: File) -> Result<()> {
    Ok(file.sync_all()?)
}

fn block<const LEN: usize>(data: &Data, number: usize) -> Result<Box<Block<LEN>>> {
    let mut block = Box::new(Block([0; LEN]));
    block.0.copy_from_slice(data.slice(data.file(number, LEN)?)?);
    Ok(block)
}

fn in_order() -> Vec<usize> {
    (0..LARGE_BYTES / PAGE).collect()
}

/// Every page once, as fio's random jobs do.
fn shuffled() -> Vec<usize> {
    let mut pages = in_order();
    pages.shuffle(&mut SmallRng::seed_from_u64(3));
    pages
}
