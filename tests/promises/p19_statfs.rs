//! 19. statfs(2) and df tell the truth: what is written is used, what is removed is not.

use anyhow::{Result, ensure};
use rustix::fs::{StatVfs, statvfs};
use std::fs::File;
use std::os::unix::fs::FileExt;
use stoa_tests::command::{program, run, until};
use stoa_tests::{Place, Setup, content, in_place, scale};

const LEN: u64 = 32 << 20;

fn used_bytes(stat: &StatVfs) -> u64 {
    (stat.f_blocks - stat.f_bfree) * stat.f_frsize
}

#[test]
fn p19_used_space_follows_the_files() -> Result<()> {
    in_place(Setup::new("p19"), |place| {
        let before = statvfs(place.dir())?;
        ensure!(before.f_namemax == 255, "names of {} bytes", before.f_namemax);
        let file = File::create(place.path("file"))?;
        file.write_all_at(&content::bytes(1, usize::try_from(LEN)?), 0)?;
        file.sync_all()?;
        grown_by(place, &before, LEN * 9 / 10..=LEN * 11 / 10)?;
        file.set_len(LEN / 2)?;
        file.sync_all()?;
        grown_by(place, &before, LEN * 4 / 10..=LEN * 6 / 10)?;
        drop(file);
        std::fs::remove_file(place.path("file"))?;
        grown_by(place, &before, 0..=LEN / 10)
    })
}

#[test]
fn p19_inodes_and_df() -> Result<()> {
    in_place(Setup::new("p19-df"), |place| {
        let before = statvfs(place.dir())?;
        for number in 0..200 {
            File::create(place.path(format!("f{number}")))?;
        }
        let after = statvfs(place.dir())?;
        let made = (after.f_files - after.f_ffree).saturating_sub(before.f_files - before.f_ffree);
        ensure!((200..300).contains(&made), "{made} inodes more after 200 files");
        let df = run(program("df").args(["--output=used,avail,target", "-B1"]).arg(place.dir()), scale::minutes(1, 1))?;
        ensure!(df.lines().count() == 2, "df: {df}");
        if place.is_volume() {
            ensure!(df.contains(&place.dir().display().to_string()), "df does not name the mount: {df}");
        }
        Ok(())
    })
}

/// A given directory's file system has other users: its figures count only for a volume.
fn grown_by(place: &Place, before: &StatVfs, range: std::ops::RangeInclusive<u64>) -> Result<()> {
    if !place.is_volume() {
        return Ok(());
    }
    let mut grown = 0;
    until("used space is as expected", scale::minutes(1, 1) / 4, || {
        grown = used_bytes(&statvfs(place.dir())?).saturating_sub(used_bytes(before));
        Ok(range.contains(&grown))
    })
    .map_err(|error| error.context(format!("{grown} bytes more are used, which is not in {range:?}")))
}
