//! Files of very many extents: nothing that goes through them needs them all at once, and nothing of them is lost.

use crate::world::{self, File, assert_clean, content, formatted, make, noise, quiet, write};
use std::sync::Arc;
use stoa_vfs::{Error, Seek, SetAttr, Vfs};
use stoa_volume::{Silent, Volume};

/// Bytes with holes between them. Each is an extent in a segment, so it is twice as many extents as this.
const BYTES: u64 = 20_000;

/// Files are published as a whole, when they are synced.
async fn open() -> Arc<Volume> {
    world::open(&formatted().await, quiet()).await
}

/// Writes every second byte of a file.
async fn scatter(volume: &Volume, file: File, bytes: u64, byte: u8) {
    for number in 0..bytes {
        write(volume, file, number * 2, vec![byte]).await;
    }
    volume.fsync(file.0).await.unwrap();
}

/// Looking at every GiB of this hole would take hours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hole_of_any_length_is_one_step() {
    let volume = open().await;
    let (ino, handle) = make(&volume, "file").await;
    let (end, far) = (i64::MAX as u64, i64::MAX as u64 - 4096);
    let truncate = SetAttr { size: Some(end), ..SetAttr::default() };
    for synced in [false, true] {
        volume.setattr(ino, &truncate).await.unwrap();
        if synced {
            volume.fsync(ino).await.unwrap();
        }
        assert_eq!(volume.seek(ino, 1, Seek::Data).await, Err(Error::NoOffset), "synced: {synced}");
        assert_eq!(volume.seek(ino, 1, Seek::Hole).await, Ok(1), "synced: {synced}");
    }
    for synced in [false, true] {
        write(&volume, (ino, handle), far, &b"far"[..]).await;
        if synced {
            volume.fsync(ino).await.unwrap();
        }
        let found = volume.seek(ino, 1, Seek::Data).await.unwrap();
        assert!(found <= far && far - found < 1 << 20, "synced: {synced}: {found}");
        assert_eq!(volume.seek(ino, far + 3, Seek::Hole).await, Ok(far + 3), "synced: {synced}");
    }
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_segment_is_emptied_of_a_scattered_file() {
    let volume = open().await;
    let file = make(&volume, "file").await;
    let last_segment = async || volume.file_info(file.0).await.unwrap().extents.pop().unwrap().segment;
    scatter(&volume, file, BYTES, b'a').await;
    let sparse = last_segment().await;
    // Most of the segment dies.
    scatter(&volume, file, BYTES * 9 / 10, b'b').await;
    let before = content(&volume, file).await;
    let report = volume.gc(&Silent).await.unwrap();
    // On a machine as slow as that, it was done in the background.
    let moved = (report.rewritten_segments, report.rewritten_bytes);
    assert!(moved == (1, BYTES / 10) || moved == (0, 0), "{report:?}");
    assert_ne!(last_segment().await, sparse);
    assert_eq!(content(&volume, file).await, before);
    assert_clean(&volume).await;
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_scattered_file_says_how_far_it_got() {
    let volume = open().await;
    let from = make(&volume, "from").await;
    scatter(&volume, from, BYTES, b'a').await;
    let to = make(&volume, "to").await;
    let size = BYTES * 2 - 1;
    let first = volume.copy_range(from.0, 0, to.0, 0, size).await.unwrap();
    assert!(first > 0 && first < size, "{first} of {size}");
    assert_eq!(volume.getattr(to.0).await.unwrap().size, first);
    let mut done = first;
    while done < size {
        done += volume.copy_range(from.0, done, to.0, done, size - done).await.unwrap();
    }
    assert_eq!(content(&volume, to).await, content(&volume, from).await);
    assert_eq!(volume.file_info(to.0).await.unwrap().extents.len() as u64, size);
    assert_clean(&volume).await;
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_written_in_any_order_lies_in_the_order_of_the_file() {
    const PAGE: u64 = 4096;
    const PAGES: u64 = 6000;
    let volume = open().await;
    let file = make(&volume, "file").await;
    for number in 0..PAGES {
        // Every page once, as 3,299 and 6,000 have no common divisor.
        let page = number * 3299 % PAGES;
        write(&volume, file, page * 2 * PAGE, noise(page, PAGE as usize)).await;
    }
    volume.fsync(file.0).await.unwrap();
    let info = volume.file_info(file.0).await.unwrap();
    let segments: Vec<&String> = info.extents.iter().filter_map(|extent| extent.segment.as_ref()).collect();
    let changes = segments.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(segments.len() as u64, PAGES);
    assert_eq!(changes, 1, "24 MiB are two segments, one with the first half of the file and one with the second");
    volume.close().await.unwrap();
}
