//! The workload through a file system.

use crate::table::Row;
use crate::workload::{ENTRIES, FILE_LEN, FILES, Workload};
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};
use stoa_tests::command::{program, run};
use stoa_tests::{Place, content, tree};

/// How much a program reads or writes at a time.
const PIECE: usize = 1 << 20;
const LIMIT: Duration = Duration::from_secs(1800);

/// Measures every row in a fresh place.
pub(crate) fn measure(place: &mut Place, workload: &Workload, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    sequential(place, workload, add)?;
    random(place, workload, add)?;
    fs::remove_file(place.path("large"))?;
    create(place, add)?;
    unpack(place, workload, add)?;
    list(place, add)
}

fn sequential(place: &mut Place, workload: &Workload, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    let path = place.path("large");
    let started = Instant::now();
    let mut file = File::create(&path)?;
    for piece in workload.large.chunks(PIECE) {
        file.write_all(piece)?;
    }
    file.sync_all()?;
    let written = started.elapsed();
    drop(file);

    cold(place)?;
    let mut found = Vec::with_capacity(workload.large.len());
    let started = Instant::now();
    let mut file = File::open(&path)?;
    let mut piece = vec![0; PIECE];
    loop {
        let len = file.read(&mut piece)?;
        if len == 0 {
            break;
        }
        found.extend_from_slice(piece.get(..len).unwrap_or_default());
    }
    let read = started.elapsed();
    content::same(&found, &workload.large)?;
    add(Row::SequentialWrite, written);
    add(Row::SequentialRead, read);
    Ok(())
}

fn random(place: &mut Place, workload: &Workload, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    cold(place)?;
    let mut found = vec![0; workload.offsets.len() * FILE_LEN];
    let started = Instant::now();
    let file = File::open(place.path("large"))?;
    for (page, &offset) in found.chunks_mut(FILE_LEN).zip(&workload.offsets) {
        file.read_exact_at(page, offset as u64)?;
    }
    let read = started.elapsed();
    drop(file);
    for (page, &offset) in found.chunks(FILE_LEN).zip(&workload.offsets) {
        content::same(page, workload.large.get(offset..offset + FILE_LEN).context("offset")?)?;
    }
    add(Row::RandomRead, read);

    let pages: Vec<Vec<u8>> = (0..workload.offsets.len()).map(Workload::small).collect();
    let started = Instant::now();
    let file = File::options().write(true).open(place.path("large"))?;
    for (page, &offset) in pages.iter().zip(&workload.offsets) {
        file.write_all_at(page, offset as u64)?;
    }
    file.sync_all()?;
    let written = started.elapsed();
    drop(file);
    cold(place)?;
    let mut expected = workload.large.clone();
    for (page, &offset) in pages.iter().zip(&workload.offsets) {
        expected.get_mut(offset..offset + FILE_LEN).context("offset")?.copy_from_slice(page);
    }
    content::check(&place.path("large"), &expected)?;
    add(Row::RandomWrite, written);
    Ok(())
}

fn create(place: &mut Place, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    let dir = place.path("small");
    let contents: Vec<Vec<u8>> = (0..FILES).map(Workload::small).collect();
    let started = Instant::now();
    fs::create_dir(&dir)?;
    for (number, bytes) in contents.iter().enumerate() {
        fs::write(dir.join(number.to_string()), bytes)?;
    }
    sync(&dir)?;
    let created = started.elapsed();
    cold(place)?;
    for (number, bytes) in contents.iter().enumerate() {
        content::check(&dir.join(number.to_string()), bytes)?;
    }
    add(Row::Create, created);
    Ok(())
}

fn unpack(place: &mut Place, workload: &Workload, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    let started = Instant::now();
    run(program("tar").arg("-xpf").arg(&workload.archive).arg("-C").arg(place.dir()), LIMIT)?;
    sync(place.dir())?;
    let unpacked = started.elapsed();
    let expected = tree::survey(&workload.tree)?;

    cold(place)?;
    let started = Instant::now();
    // With -size every inode is looked at, as most uses of find do.
    let found = run(program("find").arg(place.path("tree")).args(["-size", "-1000000k"]), LIMIT)?;
    let searched = started.elapsed();
    ensure!(found.lines().count() == expected.len(), "find: {} of {}", found.lines().count(), expected.len());
    tree::compare(&tree::survey(&place.path("tree"))?, &expected)?;
    add(Row::Untar, unpacked);
    add(Row::Find, searched);
    Ok(())
}

fn list(place: &mut Place, add: &mut dyn FnMut(Row, Duration)) -> Result<()> {
    let dir = place.path("entries");
    fs::create_dir(&dir)?;
    for number in 0..ENTRIES {
        File::create(dir.join(number.to_string()))?;
    }
    cold(place)?;
    let started = Instant::now();
    let listing = run(program("ls").arg("-l").arg(&dir), LIMIT)?;
    let listed = started.elapsed();
    ensure!(listing.lines().count() == ENTRIES + 1, "ls: {} lines", listing.lines().count());
    add(Row::List, listed);
    Ok(())
}

/// Waits until what was done in the file system of `dir` is durable: files, too.
fn sync(dir: &Path) -> Result<()> {
    run(program("sync").arg("--file-system").arg(dir), LIMIT)?;
    File::open(dir)?.sync_all()?;
    Ok(())
}

/// Nothing is cached afterwards, neither by us nor by the kernel.
fn cold(place: &mut Place) -> Result<()> {
    place.remount()?;
    fs::write("/proc/sys/vm/drop_caches", "3").context("dropping the kernel's caches needs root")
}
