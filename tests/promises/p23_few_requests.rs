//! 23. What many small files cost at the store goes with their bytes, not with their number.
//!
//! Counts, not seconds: a store that is far away takes some 20 ms for each. Measured are 3, 27, 0, 10 and 1; a slow machine
//! commits more often meanwhile.

use anyhow::{Result, ensure};
use std::fs::File;
use std::path::Path;
use stoa_tests::command::note;
use stoa_tests::{Place, Setup, StoreKind, in_place, scale, tree};

const FILES: u64 = 2000;

#[test]
fn p23_a_tree_of_small_files() -> Result<()> {
    in_place(Setup::new("p23").store(StoreKind::S3s).limit(scale::minutes(5, 10)), |place| {
        expect_requests(place, "making 2,000 files", 40, |place| {
            tree::plant(&place.path("tree"), FILES, 23)?;
            stored(place)
        })?;
        let expected = tree::survey(&place.path("tree"))?;
        place.unmount()?;
        expect_requests(place, "mounting", 40, |place| place.mount(&[]))?;
        expect_requests(place, "looking at each", 5, |place| {
            let seen = look(&place.path("tree"))?;
            // The survey has the tree itself too.
            ensure!(seen + 1 == expected.len(), "{seen} of {} names", expected.len() - 1);
            Ok(())
        })?;
        expect_requests(place, "reading each", 30, |place| {
            tree::compare(&tree::survey(&place.path("tree"))?, &expected)?;
            stored(place)
        })?;
        place.remount()?;
        expect_requests(place, "removing each", 40, |place| {
            std::fs::remove_dir_all(place.path("tree"))?;
            stored(place)
        })
    })
}

fn expect_requests(
    place: &mut Place,
    doing: &str,
    bound: u64,
    work: impl FnOnce(&mut Place) -> Result<()>,
) -> Result<()> {
    let before = place.store()?.requests()?;
    work(place)?;
    let sent = place.store()?.requests()? - before;
    note(&format!("{doing}: {sent} requests"));
    ensure!(sent <= bound, "{doing} took {sent} requests, and should not take more than {bound}");
    Ok(())
}

/// Returns when what was done is in the store.
fn stored(place: &mut Place) -> Result<()> {
    let dir = File::open(place.dir())?;
    rustix::fs::syncfs(&dir)?;
    dir.sync_all()?;
    place.wait_until_stored(scale::minutes(1, 1))
}

/// Asks for the attributes of everything below; returns how many there are.
fn look(dir: &Path) -> Result<usize> {
    let mut seen = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        seen += 1;
        if entry.metadata()?.is_dir() {
            seen += look(&entry.path())?;
        }
    }
    Ok(seen)
}
