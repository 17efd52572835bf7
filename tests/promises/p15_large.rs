//! 15. Large things: offsets to 2^63-1, files beyond 4 GiB, directories of many entries with places that stay.

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::fs::{RawDir, SeekFrom, openat, seek};
use std::collections::BTreeSet;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stoa_tests::{Setup, content, in_place, scale};

#[test]
fn p15_offsets_to_the_end_of_the_world() -> Result<()> {
    in_place(Setup::new("p15-offsets"), |place| {
        let path = place.path("file");
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        // ext4 ends at 16 TiB; a volume where off_t does.
        let size: u64 = if place.is_volume() { i64::MAX as u64 } else { (1 << 44) - 8192 };
        let offsets = [0, (4 << 30) - 50_000, 5 << 40, size - 100_000];
        for (seed, &offset) in offsets.iter().enumerate() {
            file.write_all_at(&content::bytes(seed as u64, 100_000), offset)?;
        }
        ensure!(file.metadata()?.len() == size, "size {}", file.metadata()?.len());
        if place.is_volume() {
            // The kernel says EINVAL where the end of the write is no off_t any more, a file system EFBIG.
            let beyond = file.write_at(b"x", size).map_err(|error| error.raw_os_error());
            ensure!(matches!(beyond, Err(Some(libc::EFBIG | libc::EINVAL))), "a write at 2^63-1 gave {beyond:?}");
        }
        file.sync_all()?;
        drop(file);
        place.remount()?;
        let file = File::open(&path)?;
        ensure!(file.metadata()?.len() == size, "size {} after a remount", file.metadata()?.len());
        for (seed, &offset) in offsets.iter().enumerate() {
            let mut found = vec![0; 100_000];
            file.read_exact_at(&mut found, offset)?;
            content::same(&found, &content::bytes(seed as u64, 100_000)).with_context(|| format!("at {offset}"))?;
        }
        let mut gap = [1; 4096];
        file.read_exact_at(&mut gap, 4 << 40)?;
        ensure!(gap == [0; 4096], "the gap is not zeros");
        Ok(())
    })
}

#[test]
fn p15_a_file_beyond_4_gib() -> Result<()> {
    in_place(Setup::new("p15-large").limit(scale::minutes(10, 30)), |place| {
        // From before 4 GiB to behind it, in pieces of few patterns: CI's disk is small.
        let piece = 8 << 20;
        let pieces: u64 = scale::pick(40, 640);
        let start = (4 << 30) - pieces / 2 * piece as u64;
        let offset = |number: u64| start + number * piece as u64;
        let path = place.path("file");
        let file = File::create(&path)?;
        for number in 0..pieces {
            file.write_all_at(&content::bytes(number % 4, piece), offset(number))?;
        }
        drop(file);
        place.remount()?;
        let file = File::open(&path)?;
        let mut found = vec![0; piece];
        for number in 0..pieces {
            file.read_exact_at(&mut found, offset(number))?;
            content::same(&found, &content::bytes(number % 4, piece)).with_context(|| format!("piece {number}"))?;
        }
        Ok(())
    })
}

#[test]
fn p15_directories_of_many_entries() -> Result<()> {
    let entries: u64 = scale::pick(20_000, 1_000_000);
    in_place(Setup::new("p15-directory").limit(scale::minutes(6, 90)), |place| {
        let dir = place.path("dir");
        std::fs::create_dir(&dir)?;
        let expected: BTreeSet<String> = (0..entries).map(|number| format!("entry-{number}")).collect();
        for name in &expected {
            File::create(dir.join(name))?;
        }
        let (before, places) = listed(&dir)?;
        ensure!(before == expected, "{} names listed of {entries}", before.len());
        place.remount()?;
        ensure!(listed(&dir)?.0 == expected, "not the same names after a remount");
        seek_back(&dir, &places)?;
        for name in &expected {
            std::fs::remove_file(dir.join(name))?;
        }
        std::fs::remove_dir(&dir)?;
        Ok(())
    })
}

/// A name, and the place after it.
type Placed = (String, u64);

/// Names, each once, with the place after each.
fn listed(dir: &Path) -> Result<(BTreeSet<String>, Vec<Placed>)> {
    let places = read_on(&opened(dir)?)?;
    let names: BTreeSet<String> = places.iter().map(|(name, _)| name.clone()).collect();
    ensure!(names.len() == places.len(), "{} entries were listed twice", places.len() - names.len());
    Ok((names, places))
}

/// From a place noted before the remount, the listing goes on with what followed, though entries before it are gone.
fn seek_back(dir: &Path, places: &[Placed]) -> Result<()> {
    let third = places.len() / 3;
    let (Some(read), Some(ahead)) = (places.get(..=third), places.get(third + 1..)) else { bail!("an empty listing") };
    for (name, _) in read.iter().step_by(2).take(100) {
        std::fs::remove_file(dir.join(name))?;
    }
    let directory = opened(dir)?;
    let &(_, place) = read.last().context("an empty listing")?;
    seek(&directory, SeekFrom::Start(place))?;
    let found = read_on(&directory)?;
    ensure!(found == ahead, "{} entries after the place, not {}", found.len(), ahead.len());
    for (name, _) in read.iter().step_by(2).take(100) {
        File::create(dir.join(name))?;
    }
    Ok(())
}

fn opened(dir: &Path) -> Result<OwnedFd> {
    Ok(openat(CWD, dir, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?)
}

/// The entries from the descriptor's place on, with the place after each.
fn read_on(directory: &OwnedFd) -> Result<Vec<Placed>> {
    let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(directory, &mut buffer);
    let mut found = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            found.push((name, entry.next_entry_cookie()));
        }
    }
    Ok(found)
}
