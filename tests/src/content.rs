//! File contents that can be told apart, and checked without keeping them.

use anyhow::{Result, ensure};
use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};
use std::path::Path;

/// `len` bytes that only this seed gives: half of them compress, half don't, so that both kinds of frames are stored.
#[must_use]
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    const RUN: usize = 4096;
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut content = vec![0; len];
    for run in content.chunks_mut(RUN) {
        if rng.random() {
            rng.fill_bytes(run);
        } else {
            // Never zero: a hole must not pass for data.
            run.fill(rng.random_range(1..=u8::MAX));
        }
    }
    content
}

/// Fails unless the file holds exactly `expected`; the message says where the first difference is.
///
/// # Errors
/// If it can't be read, or differs.
pub fn check(path: &Path, expected: &[u8]) -> Result<()> {
    let found = std::fs::read(path).map_err(|error| anyhow::anyhow!("reading {}: {error}", path.display()))?;
    same(&found, expected).map_err(|error| error.context(path.display().to_string()))
}

/// Fails unless both are the same.
///
/// # Errors
/// If they differ: at which byte, or by how much in length.
pub fn same(found: &[u8], expected: &[u8]) -> Result<()> {
    if let Some(at) = found.iter().zip(expected).position(|(found, expected)| found != expected) {
        let (found, expected) = (found.get(at), expected.get(at));
        anyhow::bail!("byte {at} is {found:?}, not {expected:?}");
    }
    ensure!(found.len() == expected.len(), "{} bytes, not {}", found.len(), expected.len());
    Ok(())
}

#[cfg(test)]
mod tests;
