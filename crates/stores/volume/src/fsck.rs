//! Checking: the namespace against itself, against the segments, and, if asked, every byte.

mod data;
mod namespace;

use crate::volume::Volume;
use crate::{Error, FsckOptions, FsckReport, Problem, Progress, Result};
use namespace::Namespace;
use stoa_meta::Fix;

/// Problems that are kept; more than this are counted by the last one.
const PROBLEMS_MAX: usize = 10_000;

impl Volume {
    /// Checks the state that is durable now. Files may be used meanwhile; nothing is deleted while it runs.
    ///
    /// With `repair`, counts that are wrong are set right, and files without a name get one in `/lost+found`: nothing is
    /// ever removed. A repair is one transaction, and can be interrupted at any point.
    ///
    /// # Errors
    /// When the store can't be read. What is wrong with the volume is in the report.
    pub async fn fsck(&self, options: FsckOptions, progress: &dyn Progress) -> Result<FsckReport> {
        let _nothing_is_deleted = self.collecting.lock().await;
        self.sync_all().await.map_err(|error| Error::Io(error.to_string()))?;
        let mut report = FsckReport::default();
        let mut namespace = Namespace::default();
        progress.step("reading the namespace", 0, 0);
        self.meta.visit(&mut namespace).await?;
        let fixes = namespace.check(&mut report);
        self.check_segments(&namespace, options.data, &mut report, progress).await?;
        report.orphan_segments = self.count_orphan_segments().await?;
        if options.repair && !fixes.is_empty() {
            self.repair(fixes, &mut report).await?;
        }
        report.problems.truncate(PROBLEMS_MAX);
        Ok(report)
    }

    async fn repair(&self, fixes: Vec<(usize, Fix)>, report: &mut FsckReport) -> Result<()> {
        self.check_writable().map_err(|error| Error::Io(error.to_string()))?;
        let (problems, fixes): (Vec<usize>, Vec<Fix>) = fixes.into_iter().unzip();
        self.meta.fix(&fixes).await?;
        self.commit().await.map_err(|error| Error::Io(error.to_string()))?;
        for index in problems {
            if let Some(problem) = report.problems.get_mut(index) {
                problem.repaired = true;
            }
        }
        Ok(())
    }
}

impl FsckReport {
    /// Adds a problem; returns its number.
    fn problem(&mut self, what: String) -> usize {
        self.problems.push(Problem { what, repaired: false });
        self.problems.len() - 1
    }
}
