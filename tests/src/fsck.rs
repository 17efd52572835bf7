//! What `stoa fsck --json` says.

use anyhow::{Context, Result};
use serde::Deserialize;

/// The report of a check.
#[derive(Debug, Deserialize)]
pub struct Fsck {
    /// Inodes looked at.
    pub inodes: u64,
    /// Frames read and verified.
    #[serde(default)]
    pub frames_verified: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Segments that nothing names.
    #[serde(default)]
    pub orphan_segments: u64,
}

/// One thing that is wrong.
#[derive(Debug, Deserialize)]
pub struct Problem {
    /// What, and where.
    pub what: String,
}

impl Fsck {
    pub(crate) fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).with_context(|| format!("stoa fsck --json printed\n{json}"))
    }
}
