//! 14. Holes: SEEK_HOLE and SEEK_DATA never pass over data, punched ranges read as zeros and give their space back, and
//!     `cp --sparse` sees what is there.

use anyhow::{Context, Result, ensure};
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use stoa_tests::command::shell;
use stoa_tests::{Setup, content, in_place, scale};

const K: u64 = 1024;

/// Data at the start, in the middle and in the last bytes of a file of 64 MiB.
fn sparse(file: &File) -> Result<Vec<u8>> {
    let mut expected = vec![0; 64 << 20];
    for (seed, offset) in [(1, 0), (2, 20 * K * K + 7), (3, 64 * K * K - 90_000)] {
        let data = content::bytes(seed, 90_000);
        file.write_all_at(&data, offset)?;
        let start = usize::try_from(offset)?;
        expected.get_mut(start..start + data.len()).context("out of range")?.copy_from_slice(&data);
    }
    Ok(expected)
}

/// The data ranges of a file, as lseek tells them.
fn data_ranges(file: &File) -> Result<Vec<(u64, u64)>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    loop {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(rustix::io::Errno::NXIO) => return Ok(ranges),
            Err(error) => return Err(error.into()),
        };
        let end = seek(file, SeekFrom::Hole(start))?;
        ensure!(start >= at && end > start, "lseek went from {at} to {start} to {end}");
        ranges.push((start, end));
        at = end;
    }
}

/// No byte outside the ranges is anything but zero, and the ranges hold at most `data_max` bytes.
fn honest(file: &File, expected: &[u8], data_max: u64) -> Result<()> {
    let ranges = data_ranges(file)?;
    let mut hole = 0;
    for &(start, end) in ranges.iter().chain([&(expected.len() as u64, 0)]) {
        let gap = expected.get(usize::try_from(hole)?..usize::try_from(start)?).context("a range beyond the end")?;
        ensure!(gap.iter().all(|&byte| byte == 0), "data is called a hole between {hole} and {start}");
        hole = end;
    }
    let data: u64 = ranges.iter().map(|(start, end)| end - start).sum();
    ensure!(data <= data_max, "{data} bytes are called data: {ranges:?}");
    Ok(())
}

#[test]
fn p14_seek_before_and_after_a_remount() -> Result<()> {
    in_place(Setup::new("p14"), |place| {
        let path = place.path("sparse");
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        let expected = sparse(&file)?;
        // Not synced: the answer must hold for what is only in memory, too.
        honest(&file, &expected, 4 << 20)?;
        file.sync_all()?;
        honest(&file, &expected, 4 << 20)?;
        drop(file);
        place.remount()?;
        honest(&File::open(&path)?, &expected, 4 << 20)?;
        let blocks = std::fs::metadata(&path)?.blocks();
        ensure!(blocks * 512 < 4 << 20, "a sparse file takes {blocks} blocks");
        content::check(&path, &expected)
    })
}

#[test]
fn p14_fallocate_modes() -> Result<()> {
    in_place(Setup::new("p14-fallocate"), |place| {
        let path = place.path("file");
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        let mut expected = content::bytes(4, 4 << 20);
        file.write_all_at(&expected, 0)?;
        fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 1 << 20, 1 << 20)?;
        zero(&mut expected, 1 << 20, 1 << 20)?;
        fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 3_000_001, 4097)?;
        zero(&mut expected, 3_000_001, 4097)?;
        fallocate(&file, FallocateFlags::ZERO_RANGE, 10, 5000)?;
        zero(&mut expected, 10, 5000)?;
        if passed_on(fallocate(&file, FallocateFlags::COLLAPSE_RANGE, 512 * K, 256 * K))? {
            expected.drain(512 << 10..768 << 10);
        }
        if passed_on(fallocate(&file, FallocateFlags::INSERT_RANGE, 64 * K, 128 * K))? {
            expected.splice(64 << 10..64 << 10, std::iter::repeat_n(0, 128 << 10));
        }
        fallocate(&file, FallocateFlags::KEEP_SIZE, 16 << 20, 1 << 20)?;
        ensure!(file.metadata()?.len() == expected.len() as u64, "KEEP_SIZE changed the size");
        fallocate(&file, FallocateFlags::empty(), 0, 5 << 20)?;
        expected.resize(5 << 20, 0);
        drop(file);
        content::check(&path, &expected)?;
        place.remount()?;
        content::check(&path, &expected)
    })
}

#[test]
fn p14_punching_gives_space_back() -> Result<()> {
    in_place(Setup::new("p14-space"), |place| {
        let file = File::create(place.path("file"))?;
        file.write_all_at(&content::bytes(5, 8 << 20), 0)?;
        file.sync_all()?;
        let before = file.metadata()?.blocks();
        fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 1 << 20, 6 << 20)?;
        file.sync_all()?;
        let after = file.metadata()?.blocks();
        ensure!(after * 2 < before, "{before} blocks before, {after} after three quarters were punched out");
        Ok(())
    })
}

#[test]
fn p14_cp_sparse_there_and_back() -> Result<()> {
    in_place(Setup::new("p14-cp"), |place| {
        let source = place.scratch().join("source");
        let expected = sparse(&File::create(&source)?)?;
        let limit = scale::minutes(1, 1);
        shell(
            "cp --sparse=always source files/copy && cp --sparse=auto files/copy files/second",
            place.scratch(),
            limit,
        )?;
        place.remount()?;
        content::check(&place.path("second"), &expected)?;
        honest(&File::open(place.path("second"))?, &expected, 4 << 20)?;
        shell("cp --sparse=always files/second back && cmp back source", place.scratch(), limit)?;
        Ok(())
    })
}

/// Whether a collapse or insert was done. Linux up to 6.18 refuses both itself on FUSE (`fuse_file_fallocate`), before any
/// file system hears of them; then the refusal must be clean, and the content as it was.
fn passed_on(result: rustix::io::Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn zero(bytes: &mut [u8], at: usize, len: usize) -> Result<()> {
    bytes.get_mut(at..at + len).context("out of range")?.fill(0);
    Ok(())
}
