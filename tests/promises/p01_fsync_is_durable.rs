//! 1. What fsync, fdatasync or a directory's fsync acknowledged survives a kill of the mount.

use anyhow::{Result, ensure};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use stoa_tests::{Setup, StoreKind, content, in_place};

/// Around the sizes where storage changes: inline, one page, one frame, several segments.
const SIZES: [usize; 9] = [0, 1, 100, 4095, 4097, 100_000, 300_000, 5 << 20, 40 << 20];

#[test]
fn p01_fsynced_files_survive_kill() -> Result<()> {
    in_place(Setup::new("p01").store(StoreKind::s3()), |place| {
        for (seed, &size) in SIZES.iter().enumerate() {
            let file = File::create(place.path(format!("f{size}")))?;
            file.write_all_at(&content::bytes(seed as u64, size), 0)?;
            file.sync_all()?;
        }
        place.kill()?;
        place.mount(&[])?;
        for (seed, &size) in SIZES.iter().enumerate() {
            content::check(&place.path(format!("f{size}")), &content::bytes(seed as u64, size))?;
        }
        place.unmount()?;
        place.expect_clean()?;
        Ok(())
    })
}

#[test]
fn p01_fdatasync_covers_data_and_size() -> Result<()> {
    in_place(Setup::new("p01-fdatasync"), |place| {
        let path = place.path("file");
        let mut expected = content::bytes(1, 200_000);
        let file = File::create(&path)?;
        file.write_all_at(&expected, 0)?;
        file.sync_data()?;
        // An overwrite in the middle and a piece at the end, with a hole between.
        let (patch, end) = (content::bytes(2, 5000), content::bytes(3, 5000));
        file.write_all_at(&patch, 70_001)?;
        file.write_all_at(&end, 400_000)?;
        file.sync_data()?;
        place.kill()?;
        place.mount(&[])?;
        expected.splice(70_001..75_001, patch);
        expected.resize(400_000, 0);
        expected.extend(end);
        content::check(&path, &expected)
    })
}

#[test]
fn p01_fsync_of_a_directory_covers_names_and_attributes() -> Result<()> {
    in_place(Setup::new("p01-directory"), |place| {
        let dir = place.path("dir");
        std::fs::create_dir(&dir)?;
        std::fs::write(dir.join("old"), "content")?;
        std::fs::rename(dir.join("old"), dir.join("new"))?;
        std::fs::hard_link(dir.join("new"), place.path("other"))?;
        rustix::fs::setxattr(dir.join("new"), "user.a", b"b", rustix::fs::XattrFlags::empty())?;
        rustix::fs::chmod(dir.join("new"), rustix::fs::Mode::from_raw_mode(0o4711))?;
        File::open(&dir)?.sync_all()?;
        place.kill()?;
        place.mount(&[])?;
        ensure!(!dir.join("old").exists(), "the old name is back");
        let meta = std::fs::metadata(dir.join("new"))?;
        ensure!(meta.mode() & 0o7777 == 0o4711, "mode {:o}", meta.mode());
        ensure!(
            meta.nlink() == 2 && meta.ino() == std::fs::metadata(place.path("other"))?.ino(),
            "the hard link is gone"
        );
        let mut value = [0; 8];
        let len = rustix::fs::getxattr(dir.join("new"), "user.a", &mut value)?;
        ensure!(value.get(..len) == Some(b"b"), "the attribute is {value:?}");
        Ok(())
    })
}
