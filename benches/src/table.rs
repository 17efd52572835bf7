//! Figures by row and column, and the Markdown of their medians.

use std::fmt::Write;
use std::time::Duration;

/// The rows, in the order in which they are shown. A name is a promise of what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    SequentialWrite,
    SequentialRead,
    Create,
    RandomRead,
    RandomWrite,
    Untar,
    Find,
    List,
}

const ROWS: [(Row, &str); 8] = [
    (Row::SequentialWrite, "sequential write + fsync"),
    (Row::SequentialRead, "sequential read, cold"),
    (Row::Create, "create 1,000 files of 4 KiB, fsync of the directory"),
    (Row::RandomRead, "1,000 random reads of 4 KiB, cold"),
    (Row::RandomWrite, "1,000 random writes of 4 KiB, one fsync"),
    (Row::Untar, "untar 3,000 files, sync"),
    (Row::Find, "find in that tree, cold"),
    (Row::List, "list 10,000 entries with attributes, cold"),
];

/// Seconds measured.
#[derive(Debug)]
pub(crate) struct Table {
    columns: [&'static str; 3],
    figures: Vec<(Row, usize, f64)>,
}

impl Table {
    pub(crate) fn new(columns: [&'static str; 3]) -> Self {
        Self { columns, figures: Vec::new() }
    }

    /// Adds one measurement.
    pub(crate) fn add(&mut self, row: Row, column: usize, time: Duration) {
        self.figures.push((row, column, time.as_secs_f64()));
    }

    /// The medians, in seconds.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("| seconds | {} |\n|---|---:|---:|---:|\n", self.columns.join(" | "));
        for (row, name) in ROWS {
            let cells = (0..self.columns.len())
                .map(|column| self.median(row, column).map_or("-".to_owned(), |seconds| format!("{seconds:.3}")));
            // Writing to a String does not fail.
            let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        text
    }

    fn median(&self, row: Row, column: usize) -> Option<f64> {
        let of_cell = |figure: &&(Row, usize, f64)| figure.0 == row && figure.1 == column;
        let mut seconds: Vec<f64> = self.figures.iter().filter(of_cell).map(|figure| figure.2).collect();
        seconds.sort_by(f64::total_cmp);
        seconds.get(seconds.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests;
