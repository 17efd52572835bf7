//! fsx: random operations on one file, every read verified. One test a seed.

use anyhow::Result;
use std::time::Duration;
use stoa_tests::{Fsx, Setup, in_place, scale};

#[test]
fn fsx_seed_1() -> Result<()> {
    fsx("fsx-1", 1)
}

#[test]
fn fsx_seed_2() -> Result<()> {
    fsx("fsx-2", 2)
}

#[test]
fn fsx_seed_3() -> Result<()> {
    fsx("fsx-3", 3)
}

fn fsx(name: &'static str, seed: u64) -> Result<()> {
    let operations = scale::pick(20_000, 500_000);
    let limit = scale::minutes(8, 240);
    in_place(Setup::new(name).limit(limit + Duration::from_secs(300)), |place| {
        // It spans many frames.
        Fsx { seed, operations, bytes_max: 2 << 20, limit }.run(place)?;
        if place.is_volume() {
            place.unmount()?;
            place.expect_clean()?;
        }
        Ok(())
    })
}
