//! 6. A file without a name lives as long as it is open; its space comes back when it is closed, and after a kill too.

use anyhow::{Result, ensure};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use stoa_tests::command::not_run;
use stoa_tests::{Place, Setup, content, in_place};

const LEN: usize = 20 << 20;

#[test]
fn p06_works_while_open() -> Result<()> {
    in_place(Setup::new("p06-open"), |place| {
        let file = open_without_a_name(place)?;
        ensure!(file.metadata()?.nlink() == 0, "it has {} links", file.metadata()?.nlink());
        let mut expected = content::bytes(6, LEN);
        file.write_all_at(b"changed", 12_345)?;
        expected.splice(12_345..12_352, *b"changed");
        file.sync_all()?;
        let mut found = vec![0; LEN];
        file.read_exact_at(&mut found, 0)?;
        content::same(&found, &expected)?;
        file.set_len(5)?;
        ensure!(file.metadata()?.len() == 5, "truncation did nothing");
        Ok(())
    })
}

#[test]
fn p06_leaks_nothing_over_a_kill() -> Result<()> {
    in_place(Setup::new("p06-kill"), |place| {
        let file = open_without_a_name(place)?;
        file.sync_all()?;
        place.kill()?;
        drop(file);
        place.mount(&[])?;
        ensure!(std::fs::read_dir(place.dir())?.next().is_none(), "the file has a name again");
        expect_space_back(place)
    })
}

#[test]
fn p06_leaks_nothing_over_an_unmount() -> Result<()> {
    in_place(Setup::new("p06-unmount"), |place| {
        let file = open_without_a_name(place)?;
        file.sync_all()?;
        drop(file);
        expect_space_back(place)
    })
}

fn open_without_a_name(place: &Place) -> Result<File> {
    let path = place.path("gone");
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    file.write_all_at(&content::bytes(6, LEN), 0)?;
    file.sync_all()?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// The volume is clean, has one inode, its root, and a collection leaves next to nothing in the store.
fn expect_space_back(place: &mut Place) -> Result<()> {
    place.unmount()?;
    let report = place.expect_clean()?;
    ensure!(report.inodes == 1, "{} inodes in an empty volume", report.inodes);
    place.gc()?;
    let mut left = 0;
    let Ok(objects) = place.store()?.objects("data") else {
        return not_run("p06: space in the store", "its objects can't be reached");
    };
    for object in objects {
        left += object.metadata()?.len();
    }
    ensure!(left < 1 << 20, "{left} bytes of data are left in an empty volume");
    place.expect_clean()?;
    Ok(())
}
