//! Checking: the namespace against itself, against the segments, and, if asked, every byte.

mod cover;
mod found;
mod frames;
mod namespace;
mod node;
mod references;
mod segments;
mod tree;

use crate::volume::Volume;
use crate::{Error, FsckOptions, FsckReport, Progress, Result};
use namespace::Namespace;
use stoa_meta::Fix;

impl Volume {
    /// Checks the state that is durable now. Files may be used meanwhile; nothing is deleted while it runs.
    ///
    /// With `repair`, what follows from other records is set right (counts, flags, who shares a segment, the next inode number), and
    /// files without a name get one in `/lost+found`: no inode, name, attribute or extent is ever removed. Each repair is a
    /// transaction, and right by itself: it can be interrupted at any point.
    ///
    /// # Errors
    /// When the store can't be read. What is wrong with the volume is in the report.
    pub async fn fsck(&self, options: FsckOptions, progress: &dyn Progress) -> Result<FsckReport> {
        let _nothing_is_deleted = self.collecting.lock().await;
        self.confirm_owner().await?;
        self.sync_all().await.map_err(|error| Error::Io(error.to_string()))?;
        let mut report = FsckReport::default();
        let mut namespace = Namespace::default();
        progress.step("reading the namespace", 0, 0);
        self.meta.visit(&mut namespace).await?;
        let (segments, mut found) = namespace.check(&mut report);
        self.check_segments(&segments, options.data, &mut found, &mut report, progress).await?;
        let fixes = if options.repair { found.fixes() } else { Vec::new() };
        if !fixes.is_empty() {
            self.repair(&fixes).await?;
        }
        found.tell(options.repair, &mut report);
        Ok(report)
    }

    async fn repair(&self, fixes: &[Fix]) -> Result<()> {
        self.check_writable().map_err(|error| Error::Io(error.to_string()))?;
        self.meta.fix(fixes).await?;
        self.commit().await.map_err(|error| Error::Io(error.to_string()))
    }
}

#[cfg(test)]
mod tests;
