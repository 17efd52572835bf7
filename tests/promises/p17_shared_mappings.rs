//! 17. What is written through a shared mapping is the file's content: for read(2) at once, for a remount after unmount,
//!     over a kill after msync.

use anyhow::Result;
use std::fs::File;
use std::os::unix::fs::FileExt;
use stoa_tests::mapping::Mapping;
use stoa_tests::{Place, Setup, content, in_place};

const LEN: usize = 3_000_000;

/// A file with changes made through a mapping, which is returned, beside what the file must hold.
fn change(place: &Place) -> Result<(Mapping, Vec<u8>)> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(place.path("file"))?;
    let mut expected = content::bytes(1, LEN);
    file.write_all_at(&expected, 0)?;
    let mut mapping = Mapping::shared(&file, LEN)?;
    content::same(&mapping.read(0, LEN)?, &expected)?;
    for (seed, at) in [(2, 0), (3, 1_234_567), (4, LEN - 5000)] {
        let patch = content::bytes(seed, 5000);
        mapping.write(at, &patch)?;
        expected.splice(at..at + patch.len(), patch);
    }
    Ok((mapping, expected))
}

#[test]
fn p17_seen_by_read_and_after_a_remount() -> Result<()> {
    in_place(Setup::new("p17"), |place| {
        let (mapping, expected) = change(place)?;
        content::check(&place.path("file"), &expected)?;
        // And the other way round: write(2) is seen through the mapping.
        let file = File::options().write(true).open(place.path("file"))?;
        file.write_all_at(b"by write", 2_000_000)?;
        content::same(&mapping.read(2_000_000, 8)?, b"by write")?;
        file.write_all_at(expected.get(2_000_000..2_000_008).unwrap_or_default(), 2_000_000)?;
        drop((mapping, file));
        place.remount()?;
        content::check(&place.path("file"), &expected)
    })
}

#[test]
fn p17_msync_survives_kill() -> Result<()> {
    in_place(Setup::new("p17-kill"), |place| {
        let (mapping, expected) = change(place)?;
        mapping.sync()?;
        drop(mapping);
        place.kill()?;
        place.mount(&[])?;
        content::check(&place.path("file"), &expected)
    })
}
