//! 4. A file replaced by rename, without any fsync, is after a kill the old one or the new one, whole.

use crate::p05_rewrite_replaces_whole::{check, version};
use anyhow::Result;
use std::path::Path;
use std::time::Duration;
use stoa_tests::{Setup, StoreKind, in_place, scale};

#[test]
fn p04_old_or_new_after_kill() -> Result<()> {
    in_place(Setup::new("p04").store(StoreKind::s3()).limit(scale::minutes(4, 20)), |place| {
        std::fs::write(place.path("target"), version(0))?;
        place.remount()?;
        let mut first = 0;
        for round in 0..scale::pick(4, 40) {
            let delay = Duration::from_millis(200 + 431 * (round % 7));
            let last = place.kill_during(delay, |dir| replace(dir, first))?;
            place.mount(&[])?;
            first = check(&std::fs::read(place.path("target"))?, first, last)?;
        }
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

/// Replaces the file with one version after the other; returns the last that was begun.
fn replace(dir: &Path, after: u64) -> u64 {
    let (new, target) = (dir.join("new"), dir.join("target"));
    let mut number = after;
    loop {
        number += 1;
        if std::fs::write(&new, version(number)).and_then(|()| std::fs::rename(&new, &target)).is_err() {
            return number;
        }
    }
}
