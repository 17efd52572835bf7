//! fsx: random operations on one file, every read verified.

use crate::command::{self, program};
use crate::{Place, tools};
use anyhow::Result;
use std::path::PathBuf;
use std::time::Duration;

/// Everything fsx can do, each so often.
const WEIGHTS: &str = "
[opsize]
max = 131072
[weights]
close_open = 1
read = 10
write = 10
mapread = 10
mapwrite = 10
invalidate = 1
truncate = 5
fsync = 0.2
fdatasync = 0.2
posix_fallocate = 2
punch_hole = 5
sendfile = 2
posix_fadvise = 1
copy_file_range = 5
";

/// One run of it.
#[derive(Debug, Clone, Copy)]
pub struct Fsx {
    /// What the operations are drawn by.
    pub seed: u64,
    /// How many.
    pub operations: u64,
    /// How long the file may grow, in bytes.
    pub bytes_max: u64,
    /// How long it may take.
    pub limit: Duration,
}

impl Fsx {
    /// Works on a new file of `place`, which stays there as it is left. Returns its path.
    ///
    /// # Errors
    /// If fsx is not installed, reads what it did not write, or takes too long.
    pub fn run(&self, place: &Place) -> Result<PathBuf> {
        let config = place.scratch().join("fsx.toml");
        std::fs::write(&config, format!("flen = {}\n{WEIGHTS}", self.bytes_max))?;
        let artifacts = place.scratch().join("artifacts");
        std::fs::create_dir(&artifacts)?;
        let file = place.path("fsx");
        command::run(
            program(tools::tool("fsx")?)
                .args(["-N", &self.operations.to_string(), "-S", &self.seed.to_string(), "-f"])
                .arg(&config)
                .arg("-P")
                .arg(&artifacts)
                .arg(&file),
            self.limit,
        )?;
        Ok(file)
    }
}
