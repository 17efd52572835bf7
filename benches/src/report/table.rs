//! Figures by row and system.

use crate::figure::Figure;
use crate::proxy::{Requests, Traffic};
use crate::scenarios::Scenario;
use crate::store::Way;
use crate::systems::System;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What was measured with the store reached in one way.
#[derive(Debug)]
pub(crate) struct Table {
    pub(super) way: Way,
    pub(super) systems: Vec<System>,
    pub(super) rows: BTreeSet<&'static str>,
    cells: BTreeMap<(&'static str, System), Cell>,
}

/// One row on one system.
#[derive(Debug, Default, Clone)]
struct Cell {
    figures: Vec<Figure>,
    failure: Option<String>,
}

/// One figure, for programs.
#[derive(Debug, Serialize)]
pub(super) struct Measurement {
    row: &'static str,
    system: System,
    latency_ms: u64,
    proxied: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    figure: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

impl Table {
    pub(crate) fn new(way: Way, systems: Vec<System>, rows: &BTreeSet<&'static str>) -> Self {
        Self { way, systems, rows: rows.clone(), cells: BTreeMap::new() }
    }

    /// Adds what a scenario gave. A row without a figure was not reached, or is what failed.
    pub(crate) fn add(
        &mut self,
        system: System,
        scenario: &Scenario,
        figures: Vec<(&'static str, Figure)>,
        failure: Option<String>,
    ) {
        let measured: BTreeSet<_> = figures.iter().map(|(row, _)| *row).collect();
        for (row, figure) in figures {
            self.cells.entry((row, system)).or_default().figures.push(figure);
        }
        let Some(failure) = failure else { return };
        for row in scenario.rows.iter().filter(|row| self.rows.contains(row.id) && !measured.contains(row.id)) {
            self.cells.entry((row.id, system)).or_default().failure = Some(failure.clone());
        }
    }

    /// Whether it failed in any row of `scenario`.
    pub(crate) fn has_failed(&self, system: System, scenario: &Scenario) -> bool {
        scenario.rows.iter().any(|row| self.failure(row.id, system).is_some())
    }

    pub(super) fn failure(&self, row: &'static str, system: System) -> Option<&str> {
        self.cells.get(&(row, system))?.failure.as_deref()
    }

    /// The median of every part of the figures. None if there are none, or one failed: then the others may be wrong too.
    pub(super) fn median(&self, row: &'static str, system: System) -> Option<Figure> {
        let cell = self.cells.get(&(row, system)).filter(|cell| cell.failure.is_none())?;
        let first = cell.figures.first()?;
        let of = |part: &dyn Fn(&Figure) -> Option<f64>| median(cell.figures.iter().filter_map(part).collect());
        let more = |at: usize| of(&|figure| figure.more.get(at).map(|(_, value)| *value)).unwrap_or_default();
        let count = |part: &dyn Fn(&Traffic) -> u64| {
            of(&|figure| figure.traffic.as_ref().map(|traffic| part(traffic) as f64)).unwrap_or_default() as u64
        };
        let requests = Requests {
            get: count(&|traffic| traffic.requests.get),
            list: count(&|traffic| traffic.requests.list),
            head: count(&|traffic| traffic.requests.head),
            put: count(&|traffic| traffic.requests.put),
            post: count(&|traffic| traffic.requests.post),
            delete: count(&|traffic| traffic.requests.delete),
        };
        let traffic =
            Traffic { requests, sent: count(&|traffic| traffic.sent), received: count(&|traffic| traffic.received) };
        Some(Figure {
            seconds: of(&|figure| Some(figure.seconds))?,
            cpu_seconds: of(&|figure| figure.cpu_seconds),
            peak_bytes: of(&|figure| figure.peak_bytes.map(|bytes| bytes as f64)).map(|bytes| bytes as u64),
            traffic: first.traffic.map(|_| traffic),
            more: first.more.iter().enumerate().map(|(at, (name, _))| (*name, more(at))).collect(),
        })
    }

    pub(super) fn into_measurements(self) -> Vec<Measurement> {
        let (latency_ms, proxied) = match self.way {
            Way::Proxied(latency) => (u64::try_from(latency.as_millis()).unwrap_or(u64::MAX), true),
            Way::Direct => (0, false),
        };
        let measurement =
            |row, system, figure, failure| Measurement { row, system, latency_ms, proxied, figure, failure };
        let cells = self.cells.into_iter();
        cells
            .flat_map(|((row, system), cell)| {
                let failed = cell.failure.map(|why| measurement(row, system, None, Some(why)));
                let figures = cell.figures.into_iter();
                figures.map(move |figure| measurement(row, system, Some(figure), None)).chain(failed)
            })
            .collect()
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
