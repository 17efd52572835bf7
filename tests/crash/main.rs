//! Random operations, a kill at a random moment, and a comparison of what is found with everything that may be.

mod history;
mod operations;
mod verify;

use anyhow::{Context, Result};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::io::ErrorKind;
use std::time::Duration;
use stoa_tests::command::note;
use stoa_tests::{Place, Setup, StoreKind, in_place, scale};

#[test]
fn kill_with_a_local_directory() -> Result<()> {
    seeds("crash-directory", StoreKind::Directory, 0, 0)
}

#[test]
fn kill_with_an_s3_server() -> Result<()> {
    seeds("crash-s3", StoreKind::s3(), 1_000_000, 0)
}

#[test]
fn kill_with_a_failing_s3_server() -> Result<()> {
    seeds("crash-faults", StoreKind::S3s, 2_000_000, 8)
}

/// `STOA_SUITE_SEED` runs that one seed instead.
fn seeds(name: &'static str, store: StoreKind, first: u64, troubles: u32) -> Result<()> {
    // The bits that tell files apart must arrive as they are.
    rustix::process::umask(rustix::fs::Mode::empty());
    let only = std::env::var("STOA_SUITE_SEED").ok().map(|seed| seed.parse::<u64>()).transpose()?;
    let count = scale::pick(12, 334);
    let range = only.map_or(first..first + count, |seed| seed..seed + 1);
    in_place(Setup::new(name).store(store).limit(scale::minutes(10, 240)), |place| {
        for seed in range {
            one(place, seed, troubles)
                .with_context(|| format!("seed {seed} (STOA_SUITE_SEED={seed} runs it alone)"))?;
        }
        Ok(())
    })
}

/// One seed works in a directory of its own, in a volume that crashed for every seed before.
fn one(place: &mut Place, seed: u64, troubles: u32) -> Result<()> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let delay = Duration::from_millis(rng.random_range(50..scale::pick(1500, 3000)));
    place.store()?.trouble(seed, troubles);
    let name = format!("seed{seed}");
    let history = place.kill_during(delay, |dir| operations::run(&dir.join(&name), rng))?;
    let history = history.context("the operations failed before the kill")?;
    place.mount(&[])?;
    let reached = verify::check(&place.path(&name), &history)?;
    place.unmount()?;
    place.expect_clean()?;
    if seed.is_multiple_of(4) {
        place.gc()?;
        place.expect_clean()?;
    }
    place.mount(&[])?;
    note(&format!("seed {seed}: {} operations, {reached} found after {} ms", history.operations(), delay.as_millis()));
    // Twice: recovery itself must not have changed anything.
    verify::check(&place.path(&name), &history)?;
    // A volume that only grows would make each seed slower than the one before.
    std::fs::remove_dir_all(place.path(&name)).or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    Ok(())
}
