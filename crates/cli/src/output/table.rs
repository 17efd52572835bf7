//! Columns that line up.

use std::fmt;

/// Rows of cells. Every column is as wide as its widest cell; those named at the start are set flush right.
#[derive(Debug, Default)]
pub(crate) struct Table {
    right: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table whose columns `right` (numbers, usually) are set flush right.
    pub(crate) fn new(right: &[usize]) -> Self {
        Self { right: right.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width - cell.chars().count());
                let (before, after) =
                    if self.right.contains(&column) { (gap, String::new()) } else { (String::new(), gap) };
                line.push_str(&format!("{}{before}{cell}{after}", if column > 0 { "  " } else { "" }));
            }
            write!(f, "{}{}", if number > 0 { "\n" } else { "" }, line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
