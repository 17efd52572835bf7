//! Holes, and finding data and holes.

use crate::fs::{Fs, ROOT, pattern, refused};
use stoa_vfs::Allocate;
use stoa_vfs::Seek::{Data, Hole};
use stoa_vfs::{Error, Ino};

/// The data of a file as SEEK_DATA and SEEK_HOLE tell it.
pub(crate) async fn data_ranges(fs: &Fs, ino: Ino) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    let mut at = 0;
    loop {
        match fs.seek(ino, at, Data).await {
            Ok(start) => {
                assert!(start >= at, "SEEK_DATA went back from {at} to {start}");
                let end = fs.seek(ino, start, Hole).await.unwrap();
                assert!(end > start, "SEEK_HOLE at data gave the data's own offset {start}");
                ranges.push((start, end));
                at = end;
            }
            Err(Error::NoOffset) => return ranges,
            Err(error) => panic!("SEEK_DATA: {error:?}"),
        }
    }
}

/// Asserts that every written range is reported as data, whatever else is.
async fn covers(fs: &Fs, ino: Ino, written: &[(u64, u64)]) {
    let ranges = data_ranges(fs, ino).await;
    for (start, end) in written {
        let covered = ranges.iter().any(|(from, to)| from <= start && end <= to);
        assert!(covered, "{start}..{end} was written, but data is only {ranges:?}");
    }
}

pub async fn an_empty_file_has_neither(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    refused(fs.seek(ino, 0, Data).await, libc::ENXIO);
    refused(fs.seek(ino, 0, Hole).await, libc::ENXIO);
}

pub async fn the_end_is_a_hole(fs: Fs) {
    let ino = fs.file_with(ROOT, "a", &pattern(1, 10_000)).await;
    for synced in [false, true] {
        if synced {
            fs.fsync(ino).await.unwrap();
        }
        for offset in [0, 1, 4_096, 9_999] {
            assert_eq!(fs.seek(ino, offset, Data).await, Ok(offset));
            assert_eq!(fs.seek(ino, offset, Hole).await, Ok(10_000));
        }
        for offset in [10_000, 10_001, u64::MAX] {
            refused(fs.seek(ino, offset, Data).await, libc::ENXIO);
            refused(fs.seek(ino, offset, Hole).await, libc::ENXIO);
        }
    }
}

pub async fn a_file_without_data_is_a_hole(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    fs.set_size(ino, 1 << 40).await;
    for offset in [0, 1, 1 << 20, (1 << 40) - 1] {
        refused(fs.seek(ino, offset, Data).await, libc::ENXIO);
        assert_eq!(fs.seek(ino, offset, Hole).await, Ok(offset));
    }
}

pub async fn written_bytes_are_never_in_a_hole(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    let mut written = Vec::new();
    for (offset, size) in [(1 << 30, 1), (5_000_000, 70_000), (1, 1), (200_000, 4_096), ((1 << 30) - 9_000, 10)] {
        fs.put(ino, offset, &pattern(offset, size)).await;
        written.push((offset, offset + size as u64));
        covers(&fs, ino, &written).await;
        fs.fsync(ino).await.unwrap();
        covers(&fs, ino, &written).await;
    }
    // Zeros that were written are data, or may be found to be none: but never bytes that are not zero.
    fs.put(ino, 1 << 31, &[0; 10_000]).await;
    covers(&fs, ino, &written).await;
}

pub async fn ranges_alternate_and_reach_the_end(fs: Fs) {
    let ino = fs.file(ROOT, "a").await;
    for step in 0..20_u64 {
        fs.put(ino, step * 1_000_000, &pattern(step, 100)).await;
    }
    fs.set_size(ino, 30_000_000).await;
    let ranges = data_ranges(&fs, ino).await;
    assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "ranges touch: {ranges:?}");
    assert_eq!(ranges.len(), 20, "MiB-wide gaps are not holes: {ranges:?}");
    assert!(ranges.iter().all(|(_, end)| *end <= 30_000_000));
    assert_eq!(fs.seek(ino, 29_000_000, Hole).await, Ok(29_000_000));
}

pub async fn punched_and_written_again(fs: Fs) {
    let mut expected = pattern(5, 1 << 20);
    let ino = fs.file_with(ROOT, "a", &expected).await;
    for (offset, len) in [(100_000_usize, 300_000_usize), (500_001, 77), (4_096, 8_192)] {
        fs.fallocate(ino, offset as u64, len as u64, Allocate::PunchHole).await.unwrap();
        expected[offset..offset + len].fill(0);
        fs.expect(ino, &expected).await;
        fs.fsync(ino).await.unwrap();
        fs.expect(ino, &expected).await;
    }
    fs.put(ino, 200_000, b"again").await;
    expected[200_000..200_005].copy_from_slice(b"again");
    fs.expect(ino, &expected).await;
    covers(&fs, ino, &[(0, 4_096), (12_288, 100_000), (200_000, 200_005), (400_000, 500_001)]).await;
}

pub async fn only_files_have_holes(fs: Fs) {
    let dir = fs.dir(ROOT, "dir").await;
    assert!(fs.seek(dir, 0, Data).await.is_err());
    assert!(fs.seek(dir, 0, Hole).await.is_err());
}
