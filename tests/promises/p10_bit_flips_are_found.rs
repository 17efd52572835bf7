//! 10. A bit flipped in a stored segment is never returned as data: the read fails with EIO, the rest stays readable, and
//!     `stoa fsck --data` names the object.

use anyhow::{Context, Result, ensure};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stoa_tests::{Place, Setup, content, in_place, scale};

const FILES: u64 = 3;
const LEN: usize = 3 << 20;

#[test]
fn p10_in_every_segment() -> Result<()> {
    in_place(Setup::new("p10").limit(scale::minutes(5, 10)), |place| {
        for seed in 0..FILES {
            let file = File::create(place.path(format!("f{seed}")))?;
            file.write_all_at(&content::bytes(seed, LEN), 0)?;
            file.sync_all()?;
        }
        place.unmount()?;
        let segments = place.store()?.objects("data")?;
        ensure!(!segments.is_empty(), "no segments in the store");
        let mut refused = 0;
        for segment in segments {
            let len = segment.metadata()?.len();
            for at in [len / 3, len / 2, len - 1] {
                flip(&segment, at)?;
                refused +=
                    damaged(place, &segment).with_context(|| format!("{} bit 3 of byte {at}", segment.display()))?;
                flip(&segment, at)?;
            }
        }
        ensure!(refused > 0, "no read failed although data was damaged");
        place.expect_clean()?;
        Ok(())
    })
}

/// Reads everything from a volume with one damaged segment; returns how many files had a range that failed.
fn damaged(place: &mut Place, segment: &Path) -> Result<u64> {
    place.mount(&[])?;
    let mut refused = 0;
    for seed in 0..FILES {
        let intact = intact_bytes(&place.path(format!("f{seed}")), &content::bytes(seed, LEN))?;
        // A frame is at most 256 KiB; read-ahead may fail with it. Far more than that must stay readable.
        ensure!(intact > LEN / 2, "only {intact} bytes of file {seed} are readable");
        refused += u64::from(intact < LEN);
    }
    place.unmount()?;
    let report = place.fsck()?;
    let name = segment.file_name().context("a segment without a name")?.to_string_lossy();
    ensure!(
        report.problems.iter().any(|problem| problem.what.contains(&*name)),
        "fsck does not name the object: {:?}",
        report.problems
    );
    Ok(refused)
}

/// How many bytes can be read; those that can must be right, and the others must fail with EIO.
fn intact_bytes(path: &Path, expected: &[u8]) -> Result<usize> {
    const PIECE: usize = 4096;
    let file = File::open(path)?;
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)?;
    let mut intact = 0;
    for (number, expected) in expected.chunks(PIECE).enumerate() {
        let mut found = vec![0; expected.len()];
        match file.read_exact_at(&mut found, (number * PIECE) as u64) {
            Ok(()) => {
                content::same(&found, expected).with_context(|| format!("page {number}: wrong data, and no error"))?;
                intact += found.len();
            }
            Err(error) => ensure!(error.raw_os_error() == Some(libc::EIO), "page {number}: {error}"),
        }
    }
    Ok(intact)
}

fn flip(object: &Path, at: u64) -> Result<()> {
    let file = File::options().read(true).write(true).open(object)?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at)?;
    file.write_all_at(&byte.map(|byte| byte ^ 8), at)?;
    Ok(())
}
