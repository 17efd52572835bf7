//! 18. O_TMPFILE makes a file without a name; linkat(2) gives it one; without it nothing is left.

use anyhow::{Result, ensure};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use stoa_tests::{Place, Setup, content, in_place};

fn nameless(place: &Place, extra: OFlags) -> Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | extra;
    Ok(open(place.dir(), flags, Mode::from_raw_mode(0o640))?.into())
}

#[test]
fn p18_linked_into_place() -> Result<()> {
    in_place(Setup::new("p18"), |place| {
        let file = nameless(place, OFlags::empty())?;
        let expected = content::bytes(18, 300_000);
        file.write_all_at(&expected, 0)?;
        ensure!(std::fs::read_dir(place.dir())?.next().is_none(), "it has a name");
        ensure!(file.metadata()?.nlink() == 0, "it has {} links", file.metadata()?.nlink());
        let through_proc = format!("/proc/self/fd/{}", file.as_raw_fd());
        linkat(CWD, &through_proc, CWD, place.path("named"), AtFlags::SYMLINK_FOLLOW)?;
        ensure!(file.metadata()?.nlink() == 1, "it has {} links", file.metadata()?.nlink());
        drop(file);
        place.remount()?;
        content::check(&place.path("named"), &expected)?;
        let mode = std::fs::metadata(place.path("named"))?.mode() & 0o777;
        ensure!(mode == 0o640, "mode {mode:o}");
        Ok(())
    })
}

#[test]
fn p18_never_named_never_left() -> Result<()> {
    in_place(Setup::new("p18-gone"), |place| {
        let file = nameless(place, OFlags::EXCL)?;
        file.write_all_at(&content::bytes(1, 2 << 20), 0)?;
        file.sync_all()?;
        let through_proc = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = linkat(CWD, &through_proc, CWD, place.path("named"), AtFlags::SYMLINK_FOLLOW);
        ensure!(linked == Err(rustix::io::Errno::NOENT), "O_EXCL forbids a name: {linked:?}");
        if place.is_volume() {
            place.kill()?;
            drop(file);
            place.mount(&[])?;
            place.unmount()?;
            let report = place.expect_clean()?;
            ensure!(report.inodes == 1, "{} inodes in an empty volume", report.inodes);
        }
        Ok(())
    })
}
