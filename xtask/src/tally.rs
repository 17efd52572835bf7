//! What passed and what failed.

use std::process::ExitCode;

/// Counts checks and tests.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failures: Vec<String>,
    failed: u64,
}

impl Tally {
    /// One check passed.
    pub(crate) fn passed(&mut self) {
        self.passed += 1;
    }

    /// One check failed.
    pub(crate) fn failed(&mut self, what: impl Into<String>) {
        self.failed += 1;
        self.failures.push(what.into());
    }

    /// Reads what `cargo test` printed: results of tests, and the names of those that failed. A run that fails without a
    /// failing test, because something does not compile or a test process died, counts as one failure.
    pub(crate) fn read_cargo_test(&mut self, what: &str, output: &str, success: bool) {
        let before = self.failed;
        for line in output.lines() {
            if let Some(counts) = line.strip_prefix("test result: ") {
                self.passed += count(counts, "passed");
                self.failed += count(counts, "failed");
            } else if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
                self.failures.push(format!("{what}: {name}"));
            }
        }
        if !success && self.failed == before {
            self.failed(format!("{what}: see above"));
        }
    }

    /// Prints the summary; its last line is for machines.
    pub(crate) fn summarise(&self) -> ExitCode {
        println!();
        for failure in &self.failures {
            println!("FAILED {failure}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        // Where nothing was run, a name was mistyped.
        if self.failed == 0 && self.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The number before `word` in "ok. 12 passed; 0 failed; ...".
fn count(counts: &str, word: &str) -> u64 {
    let mut words = counts.split([' ', ';', '.']).filter(|word| !word.is_empty());
    let mut last = "";
    words
        .find_map(|found| {
            let number = (found == word).then(|| last.parse().ok());
            last = found;
            number
        })
        .flatten()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
