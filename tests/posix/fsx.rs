//! fsx: random operations on one file, every read verified. One test a seed.

use anyhow::Result;
use std::time::Duration;
use stoa_tests::command::{self, program};
use stoa_tests::{Setup, in_place, scale, tools};

/// Everything fsx can do. The file may grow to 2 MiB, so that it spans many frames.
const CONFIGURATION: &str = "
flen = 2097152
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
    let operations: u64 = scale::pick(20_000, 500_000);
    let limit = scale::minutes(8, 240);
    in_place(Setup::new(name).limit(limit + Duration::from_secs(300)), |place| {
        let config = place.scratch().join("fsx.toml");
        std::fs::write(&config, CONFIGURATION)?;
        let artifacts = place.scratch().join("artifacts");
        std::fs::create_dir(&artifacts)?;
        command::run(
            program(tools::tool("fsx")?)
                .args(["-N", &operations.to_string(), "-S", &seed.to_string(), "-f"])
                .arg(&config)
                .arg("-P")
                .arg(&artifacts)
                .arg(place.path("fsx")),
            limit,
        )?;
        if place.is_volume() {
            place.unmount()?;
            place.expect_clean()?;
        }
        Ok(())
    })
}
