//! 5. A file cut to nothing and written anew, without any fsync, is after a kill the old one or the new one, whole.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::time::Duration;
use stoa_tests::{Setup, StoreKind, content, in_place, scale};

#[test]
fn p05_old_or_new_after_kill() -> Result<()> {
    in_place(Setup::new("p05").store(StoreKind::s3()).limit(scale::minutes(4, 20)), |place| {
        std::fs::write(place.path("target"), version(0))?;
        place.remount()?;
        let mut first = 0;
        for round in 0..scale::pick(4, 40) {
            let delay = Duration::from_millis(200 + 431 * (round % 7));
            let last = place.kill_during(delay, |dir| rewrite(dir, first))?;
            place.mount(&[])?;
            first = check(&std::fs::read(place.path("target"))?, first, last)?;
        }
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

/// Rewrites the file with one version after the other; returns the last that was begun.
fn rewrite(dir: &Path, after: u64) -> u64 {
    let mut number = after;
    loop {
        number += 1;
        if std::fs::write(dir.join("target"), version(number)).is_err() {
            return number;
        }
    }
}

/// A content that says which it is, of a length of its own: inline, or of several frames.
pub(crate) fn version(number: u64) -> Vec<u8> {
    let len = if number.is_multiple_of(3) { 900 } else { 150_000 + usize::try_from(number % 1000).unwrap_or(0) * 97 };
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend(content::bytes(number, len));
    bytes
}

/// Which version this is: one of those possible, and whole.
pub(crate) fn check(found: &[u8], first: u64, last: u64) -> Result<u64> {
    let number = found.first_chunk().with_context(|| format!("only {} bytes: empty or torn", found.len()))?;
    let number = u64::from_le_bytes(*number);
    ensure!((first..=last).contains(&number), "version {number}, which is none of {first} to {last}");
    content::same(found, &version(number)).with_context(|| format!("version {number} is torn"))?;
    Ok(number)
}
