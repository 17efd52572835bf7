//! What was measured, as a table for people and as JSON for programs.

mod markdown;
mod table;

pub(crate) use table::Table;

use anyhow::Result;
use serde::Serialize;

/// Everything that was measured, on one machine.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: String,
    measurements: Vec<table::Measurement>,
}

impl Report {
    pub(crate) fn new(machine: String) -> Self {
        Self { machine, measurements: Vec::new() }
    }

    pub(crate) fn add(&mut self, table: Table) {
        self.measurements.extend(table.into_measurements());
    }

    pub(crate) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }
}

#[cfg(test)]
mod tests;
