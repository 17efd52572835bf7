//! What is measured: rows, in scenarios that share what they prepare.

mod copy;
mod growth;
mod idle;
mod large;
mod list;
mod paper;
mod parallel;
mod programs;
mod rewrite;
mod small;
mod text;
mod tree;

use crate::options::Options;
use crate::session::{RawSession, Session};
use crate::systems::Raw;
use anyhow::{Result, ensure};

/// A row of the table. A title is a promise of what was measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) id: &'static str,
    /// With `{large}`, `{fourth}`, `{sixteenth}`, `{writing}` and `{idle}` for what the command line can change.
    title: &'static str,
}

impl Row {
    /// The title, for what was asked for.
    pub(crate) fn title(&self, options: &Options) -> String {
        let size = |part: usize| match options.size / part {
            mib if mib % 1024 == 0 => format!("{} GiB", mib >> 10),
            mib => format!("{mib} MiB"),
        };
        let title = self.title.replace("{large}", &size(1)).replace("{fourth}", &size(4));
        let title = title.replace("{sixteenth}", &size(16)).replace("{writing}", &options.writing.to_string());
        title.replace("{idle}", &options.idle.to_string())
    }
}

/// Rows that are measured one after the other in one fresh volume.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) rows: &'static [Row],
    pub(crate) run: fn(&mut Session<'_, '_>) -> Result<()>,
    /// The rows that raw requests have an equivalent of.
    pub(crate) raw: Option<fn(&mut RawSession<'_, '_>) -> Result<()>>,
}

impl Scenario {
    /// The rows that are measured with both limits at once, if it has any.
    pub(crate) fn both(&self) -> Option<fn(&mut Session<'_, '_>, &mut Raw) -> Result<()>> {
        (self.name == large::SCENARIO.name).then_some(large::both)
    }
}

const fn row(id: &'static str, title: &'static str) -> Row {
    Row { id, title }
}

/// All, in the order of the table.
pub(crate) const ALL: &[Scenario] = &[
    large::SCENARIO,
    text::SCENARIO,
    parallel::FOUR,
    parallel::MANY,
    rewrite::SCENARIO,
    paper::WITH_CACHES,
    paper::WITHOUT,
    small::FEW,
    small::MANY,
    tree::SCENARIO,
    copy::SCENARIO,
    list::TEN_THOUSAND,
    list::HUNDRED_THOUSAND,
    programs::GIT,
    programs::CARGO,
    programs::SQLITE,
    growth::SMALL,
    growth::LARGE,
    idle::SCENARIO,
];

/// Whether `word` of `--rows` names `row` of `scenario`: by its own name, that of the scenario, or how either begins.
pub(crate) fn names(word: &str, scenario: &Scenario, row: Row) -> bool {
    let begins = |name: &str| name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with('-'));
    begins(row.id) || begins(scenario.name)
}

/// Fails if a word of `--rows` names nothing.
pub(crate) fn check(words: &[String]) -> Result<()> {
    for word in words {
        let known = ALL.iter().any(|scenario| scenario.rows.iter().any(|&row| names(word, scenario, row)));
        ensure!(known, "no row is called {word}: see --list");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
