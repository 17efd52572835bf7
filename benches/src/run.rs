//! Runs, scenarios and systems, one after the other.

use crate::data::Data;
use crate::figure::Figure;
use crate::options::Options;
use crate::place::Place;
use crate::report::Table;
use crate::scenarios::{self, Scenario};
use crate::session::{RawSession, Recorder, Session};
use crate::store::{Store, Way};
use crate::systems::{Raw, System};
use crate::{guard, machine};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;
use stoa_tests::command::note;

/// What one scenario on one system gave, and why not more.
struct Outcome {
    figures: Vec<(&'static str, Figure)>,
    failure: Option<String>,
}

/// Measures everything that was chosen, with the store reached in `way`.
pub(crate) fn table(options: &Options, way: Way, data: &Data, scratch: &Path) -> Result<Table> {
    let wanted = options.wanted();
    let mut table = Table::new(way, options.systems(), &wanted);
    let chosen = |scenario: &&Scenario| scenario.rows.iter().any(|row| wanted.contains(row.id));
    for run in 1..=options.runs {
        for scenario in scenarios::ALL.iter().filter(chosen) {
            for system in options.systems() {
                // What failed once would cost its limit again.
                let lacks = (system.is_requests() && scenario.raw.is_none())
                    || (system == System::Both && scenario.both().is_none());
                if lacks || table.has_failed(system, scenario) {
                    continue;
                }
                let started = Instant::now();
                let outcome = Job { scenario, system, way, data, wanted: &wanted, options }.run(scratch)?;
                let failed = outcome.failure.as_deref().map_or(String::new(), |why| format!(": {why}"));
                let took = started.elapsed().as_secs_f64();
                let seconds = outcome.figures.iter().map(|(row, figure)| format!(", {row} {:.3}", figure.seconds));
                let seconds: String = seconds.collect();
                note(&format!(
                    "run {run}/{}, {}, {}: {took:.1} s{seconds}{failed}",
                    options.runs,
                    scenario.name,
                    system.name()
                ));
                table.add(system, scenario, outcome.figures, outcome.failure);
            }
        }
    }
    Ok(table)
}

struct Job<'a> {
    scenario: &'a Scenario,
    system: System,
    way: Way,
    data: &'a Data,
    wanted: &'a BTreeSet<&'static str>,
    options: &'a Options,
}

impl Job<'_> {
    /// Only what keeps the bench itself from going on is an error.
    fn run(&self, parent: &Path) -> Result<Outcome> {
        machine::touch_memory(self.options.size << 20)?;
        let scratch = tempfile::tempdir_in(parent).context("a scratch directory")?;
        let store = if self.system.is_local() { None } else { Some(Store::start(scratch.path(), self.way)?) };
        let mut recorder = Recorder::new(self.data, scratch.path(), store.as_ref(), self.wanted, self.options);
        let result = match (self.system, self.scenario.raw) {
            (system, Some(raw)) if system.is_requests() => self.raw(store.as_ref(), scratch.path(), &mut recorder, raw),
            (System::Both, _) => self.both(store.as_ref(), scratch.path(), &mut recorder),
            _ => self.mounted(store.as_ref(), scratch.path(), &mut recorder),
        };
        let failure = result.err().map(|error| match guard::in_time() {
            Ok(()) => format!("{error:#}"),
            Err(_) => format!("over the limit of {} s", self.options.limit),
        });
        Ok(Outcome { figures: recorder.into_figures(), failure })
    }

    fn mounted(&self, store: Option<&Store>, scratch: &Path, recorder: &mut Recorder<'_>) -> Result<()> {
        let place = Place::new(self.system.recipe(store, scratch)?, scratch)?;
        (self.scenario.run)(&mut Session { recorder, place })
    }

    fn both(&self, store: Option<&Store>, scratch: &Path, recorder: &mut Recorder<'_>) -> Result<()> {
        let run = self.scenario.both().context("nothing is measured with both")?;
        let place = Place::new(self.system.recipe(store, scratch)?, scratch)?;
        let mut raw = Raw::start(store.context("raw requests need a store")?, scratch)?;
        run(&mut Session { recorder, place }, &mut raw)
    }

    fn raw(
        &self,
        store: Option<&Store>,
        scratch: &Path,
        recorder: &mut Recorder<'_>,
        run: fn(&mut RawSession<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let raw = Raw::start(store.context("raw requests need a store")?, scratch)?;
        run(&mut RawSession { recorder, raw, whole: self.system == System::RawObject })
    }
}
