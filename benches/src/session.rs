//! One scenario on one system: its rows are measured one after the other, and recorded once they are verified.

use crate::data::Data;
use crate::figure::{Figure, measure};
use crate::guard;
use crate::options::Options;
use crate::place::{Place, drop_caches};
use crate::store::Store;
use crate::systems::{Raw, RawAnswer, RawCommand};
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// What was measured so far, and of what.
pub(crate) struct Recorder<'a> {
    pub(crate) data: &'a Data,
    /// A directory of the local file system.
    pub(crate) scratch: &'a Path,
    store: Option<&'a Store>,
    wanted: &'a BTreeSet<&'static str>,
    /// What a row may take.
    limit: Duration,
    /// How long random writes go on.
    pub(crate) writing: Duration,
    /// How long nothing goes on.
    pub(crate) idle: Duration,
    figures: Vec<(&'static str, Figure)>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        data: &'a Data,
        scratch: &'a Path,
        store: Option<&'a Store>,
        wanted: &'a BTreeSet<&'static str>,
        options: &Options,
    ) -> Self {
        let [limit, writing, idle] = [options.limit, options.writing, options.idle].map(Duration::from_secs);
        guard::allow(limit);
        Self { data, scratch, store, wanted, limit, writing, idle, figures: Vec::new() }
    }

    /// Whether any of `rows` is asked for: what nobody asks for, and nothing later needs, is left out.
    pub(crate) fn wants(&self, rows: &[&str]) -> bool {
        rows.iter().any(|row| self.wanted.contains(row))
    }

    /// Gives the next row its time and so much more.
    pub(crate) fn allow_also(&self, time: Duration) {
        guard::allow(self.limit + time);
    }

    /// Takes in what was verified, and gives the next row its time.
    pub(crate) fn record(&mut self, row: &'static str, figure: Figure) -> Result<()> {
        guard::in_time()?;
        guard::allow(self.limit);
        if self.wants(&[row]) {
            self.figures.push((row, figure));
        }
        Ok(())
    }

    pub(crate) fn into_figures(self) -> Vec<(&'static str, Figure)> {
        self.figures
    }
}

/// A scenario on a file system.
pub(crate) struct Session<'r, 'a> {
    pub(crate) recorder: &'r mut Recorder<'a>,
    pub(crate) place: Place,
}

impl Session<'_, '_> {
    /// A way to put files without the mount, where they are objects.
    pub(crate) fn raw_access(&self) -> Result<Option<Raw>> {
        let store = self.recorder.store.filter(|_| self.place.shows_objects());
        store.map(|store| Raw::start(store, self.recorder.scratch)).transpose()
    }

    /// Measures `work`. What other rows left to the disk does not count.
    pub(crate) fn timed<T>(&self, work: impl FnOnce(&Place) -> Result<T>) -> Result<(Figure, T)> {
        rustix::fs::sync();
        measure(&self.place.pids(), self.recorder.store, || work(&self.place))
    }

    /// The same after every cache was emptied.
    pub(crate) fn timed_cold<T>(&mut self, work: impl FnOnce(&Place) -> Result<T>) -> Result<(Figure, T)> {
        self.place.cool()?;
        self.timed(work)
    }
}

/// A scenario as raw requests.
pub(crate) struct RawSession<'r, 'a> {
    pub(crate) recorder: &'r mut Recorder<'a>,
    pub(crate) raw: Raw,
    /// Whether a file is one object, and not several of the size of segments.
    pub(crate) whole: bool,
}

impl RawSession<'_, '_> {
    /// Measures `command`, with the server's files out of the kernel's caches, as for a cold file system.
    pub(crate) fn timed(&mut self, command: &RawCommand) -> Result<(Figure, RawAnswer)> {
        drop_caches()?;
        let (pid, raw) = (self.raw.pid(), &mut self.raw);
        measure(&[pid], self.recorder.store, || raw.run(command))
    }
}
