//! What is written and read: the same bytes in the same order for everyone.

use anyhow::Result;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::path::PathBuf;
use std::time::Duration;
use stoa_tests::command::shell;
use stoa_tests::{content, tree};
use tempfile::TempDir;

pub(crate) const FILES: usize = 1000;
pub(crate) const FILE_LEN: usize = 4096;
pub(crate) const ENTRIES: usize = 10_000;
const RANDOM_CALLS: usize = 1000;
const TREE_FILES: u64 = 3000;

/// Everything that is made before the clock runs.
#[derive(Debug)]
pub(crate) struct Workload {
    /// The content of the large file: half of it compresses.
    pub(crate) large: Vec<u8>,
    /// Offsets of random calls in it, on 4 KiB.
    pub(crate) offsets: Vec<usize>,
    /// The tree that the archive holds, as files.
    pub(crate) tree: PathBuf,
    /// The archive.
    pub(crate) archive: PathBuf,
    _scratch: TempDir,
}

impl Workload {
    pub(crate) fn new(large_bytes: usize) -> Result<Self> {
        let scratch = tempfile::tempdir()?;
        let (tree, archive) = (scratch.path().join("tree"), scratch.path().join("tree.tar"));
        tree::plant(&tree, TREE_FILES, 5)?;
        shell("tar --format=pax -cf tree.tar tree", scratch.path(), Duration::from_secs(300))?;
        let mut rng = SmallRng::seed_from_u64(4);
        let offsets = (0..RANDOM_CALLS).map(|_| rng.random_range(0..large_bytes / FILE_LEN) * FILE_LEN).collect();
        Ok(Self { large: content::bytes(1, large_bytes), offsets, tree, archive, _scratch: scratch })
    }

    /// The content of small file `number`, or of random write `number`.
    pub(crate) fn small(number: usize) -> Vec<u8> {
        content::bytes(1_000_000 + number as u64, FILE_LEN)
    }
}
