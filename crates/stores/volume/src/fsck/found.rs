//! What a check found, and what of it can be set right.

use crate::{FsckReport, Problem};
use stoa_meta::Fix;

/// Problems listed of those that last, and again of those that can be mended; more are counted.
const LISTED_MAX: usize = 10_000;

/// Problems, of which the first are kept.
#[derive(Debug, Default)]
struct Listed {
    texts: Vec<String>,
    count: u64,
}

impl Listed {
    fn add(&mut self, what: String) {
        self.count += 1;
        if self.texts.len() < LISTED_MAX {
            self.texts.push(what);
        }
    }
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    lasting: Listed,
    mendable: Listed,
    /// For each mendable problem, listed or not, what mends it.
    fixes: Vec<Fix>,
    /// Some record could not be read.
    pub(super) incomplete: bool,
}

impl Found {
    /// Adds a problem that can't be mended, or not without losing something.
    pub(super) fn lasting(&mut self, what: String) {
        self.lasting.add(what);
    }

    /// Adds a problem that can be mended.
    pub(super) fn mendable(&mut self, what: String, fix: Fix) {
        self.mendable.add(what);
        self.fixes.push(fix);
    }

    /// The fixes to make.
    pub(super) fn fixes(&self) -> Vec<Fix> {
        self.fixes.iter().filter(|fix| self.may_make(fix)).copied().collect()
    }

    /// Where a record can't be read there may be more than was counted: then no count is touched. What only adds is right anyway.
    fn may_make(&self, fix: &Fix) -> bool {
        let counts =
            matches!(fix, Fix::Links(..) | Fix::Entries(..) | Fix::DataBytes(..) | Fix::Segment(_) | Fix::Totals(_));
        !(counts && self.incomplete)
    }

    /// Puts everything into the report: first what lasts. `mended`: the fixes were made.
    pub(super) fn tell(self, mended: bool, report: &mut FsckReport) {
        let repaired: Vec<bool> = self.fixes.iter().map(|fix| mended && self.may_make(fix)).collect();
        let unrepaired = repaired.iter().filter(|repaired| !**repaired).count();
        let count = self.lasting.count + self.mendable.count;
        let lasting = self.lasting.texts.into_iter().map(|what| Problem { what, repaired: false });
        let mendable = self.mendable.texts.into_iter().zip(repaired).map(|(what, repaired)| Problem { what, repaired });
        report.problems.extend(lasting.chain(mendable));
        report.problems_left_out = count.saturating_sub(report.problems.len().try_into().unwrap_or(u64::MAX));
        report.problems_left = self.lasting.count.saturating_add(unrepaired.try_into().unwrap_or(u64::MAX));
    }
}

#[cfg(test)]
mod tests;
