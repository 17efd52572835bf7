//! 22. `--memory` bounds what a mount takes, however large its files are and however many.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt;
use stoa_tests::command::note;
use stoa_tests::{Place, Setup, StoreKind, content, in_place, scale};

const CEILING_MIB: u64 = 128;

/// What comes on top of the ceiling, however large that is: the pages of the program and its libraries, and stacks (20 MiB when
/// freshly mounted), and the writes that the kernel has under way while there is no room for them yet: 64 of 1 MiB, or fewer where there is
/// little memory.
const ALLOWANCE_MIB: u64 = 20 + 64;

const PIECE: usize = 4 << 20;

#[test]
fn p22_a_file_larger_than_memory() -> Result<()> {
    in_place(Setup::new("p22-file").store(StoreKind::s3()).limit(scale::minutes(5, 15)), |place| {
        limited(place)?;
        let pieces: u64 = scale::pick(75, 256);
        let path = place.path("file");
        let file = File::create(&path)?;
        for number in 0..pieces {
            file.write_all_at(&content::bytes(number % 8, PIECE), number * PIECE as u64)?;
        }
        file.sync_all()?;
        drop(file);
        expect_below_ceiling(place, "writing")?;
        place.unmount()?;
        place.mount(&["--memory", &format!("{CEILING_MIB}M")])?;
        let file = File::open(&path)?;
        let mut found = vec![0; PIECE];
        for number in 0..pieces {
            file.read_exact_at(&mut found, number * PIECE as u64)?;
            content::same(&found, &content::bytes(number % 8, PIECE)).with_context(|| format!("piece {number}"))?;
        }
        expect_below_ceiling(place, "reading")
    })
}

/// Two layers fill the memory for dirty data then, and not quite a segment: somebody has to have it sent.
#[test]
fn p22_writing_goes_on_with_the_least_memory() -> Result<()> {
    in_place(Setup::new("p22-least"), |place| {
        place.unmount()?;
        place.mount(&["--memory", "64M"])?;
        let content = content::bytes(22, 200 << 20);
        std::fs::write(place.path("file"), &content)?;
        place.remount()?;
        content::check(&place.path("file"), &content)
    })
}

#[test]
fn p22_many_files() -> Result<()> {
    in_place(Setup::new("p22-files").store(StoreKind::s3()).limit(scale::minutes(5, 15)), |place| {
        limited(place)?;
        for number in 0..scale::pick(20_000, 100_000) {
            if number % 1000 == 0 {
                std::fs::create_dir(place.path(format!("d{}", number / 1000)))?;
            }
            std::fs::write(place.path(format!("d{}/f{number}", number / 1000)), content::bytes(number, 2000))?;
        }
        File::open(place.dir())?.sync_all()?;
        expect_below_ceiling(place, "creating")
    })
}

fn limited(place: &mut Place) -> Result<()> {
    place.unmount()?;
    place.mount(&["--memory", &format!("{CEILING_MIB}M")])
}

fn expect_below_ceiling(place: &Place, doing: &str) -> Result<()> {
    let peak = peak_mib(place)?;
    note(&format!("{doing}: {peak} MiB at most, with --memory {CEILING_MIB}M"));
    ensure!(peak <= CEILING_MIB + ALLOWANCE_MIB, "{peak} MiB while {doing}, with --memory {CEILING_MIB}M");
    Ok(())
}

/// The most memory that the mount's process ever had resident.
fn peak_mib(place: &Place) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", place.pid().context("no mount")?))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1024)
}
