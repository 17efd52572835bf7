//! tar: a tree of more than 10,000 files there and back.

use anyhow::{Result, ensure};
use stoa_tests::command::shell;
use stoa_tests::{Setup, StoreKind, in_place, scale, tree};

#[test]
fn tar_of_a_large_tree() -> Result<()> {
    in_place(Setup::new("tar").store(StoreKind::s3()).limit(scale::minutes(8, 60)), |place| {
        let (source, back) = (place.scratch().join("source"), place.scratch().join("back"));
        std::fs::create_dir_all(&source)?;
        std::fs::create_dir(&back)?;
        std::fs::create_dir(place.path("copy"))?;
        tree::plant(&source, scale::pick(10_000, 60_000), 11)?;
        let expected = tree::survey(&source)?;
        ensure!(expected.len() > 10_000, "only {} paths", expected.len());
        let limit = scale::minutes(6, 50);
        shell("tar --format=pax -C source -cf - . | tar -C files/copy -xpf -", place.scratch(), limit)?;
        place.remount()?;
        tree::compare(&tree::survey(&place.path("copy"))?, &expected)?;
        shell("tar --format=pax -C files/copy -cf - . | tar -C back -xpf -", place.scratch(), limit)?;
        tree::compare(&tree::survey(&back)?, &expected)
    })
}
