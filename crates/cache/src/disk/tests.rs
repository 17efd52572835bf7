//! The disk cache on a disk that fails on command.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

use super::files::Files;
use super::slabs::Limits;
use super::{Disk, Open};
use crate::object::Key;
use crate::{Budget, DiskState};

const LEN: u32 = 1000;

/// Slabs in memory, on a disk of a certain size, with errors to order.
#[derive(Default)]
struct Faulty {
    slabs: Mutex<BTreeMap<u64, Vec<u8>>>,
    bytes_max: Mutex<Option<usize>>,
    read_error: Mutex<Option<ErrorKind>>,
    open_error: Mutex<Option<ErrorKind>>,
    writes_failed: Mutex<u64>,
}

impl Files for Arc<Faulty> {
    fn list(&self) -> io::Result<Vec<(u64, u64)>> {
        Ok(self.slabs.lock().iter().map(|(slab, bytes)| (*slab, bytes.len() as u64)).collect())
    }

    fn read(&self, slab: u64, position: u64, len: usize) -> io::Result<Vec<u8>> {
        if let Some(kind) = *self.read_error.lock() {
            return Err(kind.into());
        }
        let slabs = self.slabs.lock();
        let bytes = slabs.get(&slab).ok_or(ErrorKind::NotFound)?;
        let found = bytes.get(position as usize..position as usize + len);
        Ok(found.ok_or(ErrorKind::UnexpectedEof)?.to_vec())
    }

    fn write(&self, slab: u64, position: u64, bytes: &[u8]) -> io::Result<()> {
        let mut slabs = self.slabs.lock();
        let used: usize = slabs.values().map(Vec::len).sum();
        if self.bytes_max.lock().is_some_and(|max| used + bytes.len() > max) {
            *self.writes_failed.lock() += 1;
            return Err(ErrorKind::StorageFull.into());
        }
        let file = slabs.entry(slab).or_default();
        assert_eq!(file.len() as u64, position, "slabs are appended to");
        file.extend_from_slice(bytes);
        Ok(())
    }

    fn remove(&self, slab: u64) -> io::Result<()> {
        self.slabs.lock().remove(&slab).map(drop).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

fn limits() -> Limits {
    Limits { slab_bytes: 10_000, slabs_max: 5, entries_max: 1000 }
}

fn open(files: &Arc<Faulty>, limits: Limits, wait_first: Duration) -> Arc<Disk> {
    let files = Arc::clone(files);
    let open: Open = Box::new(move || match *files.open_error.lock() {
        Some(kind) => Err(kind.into()),
        None => Ok(Arc::new(Arc::clone(&files)) as Arc<dyn Files>),
    });
    Disk::with(open, limits, 1 << 20, wait_first)
}

fn key(at: u64) -> Key {
    (1, at * 1000)
}

fn stored(at: u64) -> Bytes {
    Bytes::from(vec![at as u8; LEN as usize])
}

/// Offers pieces one by one, each when the one before it was written or refused.
async fn offer(disk: &Arc<Disk>, pieces: std::ops::Range<u64>) {
    let budget = Budget::new(1 << 20);
    for at in pieces {
        disk.offer(key(at), stored(at), budget.try_reserve(u64::from(LEN)).unwrap());
        while disk.queue.lock().writing {
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
    }
    assert_eq!(budget.used(), 0);
}

fn found(disk: &Disk, pieces: std::ops::Range<u64>) -> Vec<u64> {
    let right = |at: &u64| {
        let read = disk.holds(&key(*at), LEN).then(|| disk.read(&key(*at), LEN)).flatten();
        read.inspect(|bytes| assert_eq!(bytes, &stored(*at))).is_some()
    };
    pieces.filter(right).collect()
}

#[tokio::test]
async fn old_slabs_make_way_and_the_size_is_kept() {
    let files = Arc::new(Faulty::default());
    let disk = open(&files, limits(), Duration::ZERO);
    offer(&disk, 0..200).await;
    // Nine entries of 1048 bytes and their table fit in a slab: 200 are 22 slabs and two entries.
    assert_eq!(found(&disk, 0..200), (162..200).collect::<Vec<_>>());
    assert_eq!(files.slabs.lock().len(), 5);
    assert!(files.slabs.lock().values().all(|slab| slab.len() <= 10_000));
    assert_eq!(disk.bytes(), 50_000);
    drop(disk);
    let disk = open(&files, limits(), Duration::ZERO);
    assert_eq!(found(&disk, 0..200), (162..200).collect::<Vec<_>>(), "also when opened again");
    offer(&disk, 200..210).await;
    assert!(files.slabs.lock().len() <= 5);
    assert_eq!(found(&disk, 200..210).len(), 10);
}

#[tokio::test]
async fn a_smaller_limit_holds_for_what_was_left() {
    let files = Arc::new(Faulty::default());
    offer(&open(&files, limits(), Duration::ZERO), 0..45).await;
    assert_eq!(files.slabs.lock().len(), 5);
    let disk = open(&files, Limits { slabs_max: 2, ..limits() }, Duration::ZERO);
    assert_eq!(files.slabs.lock().len(), 2);
    assert_eq!(found(&disk, 0..45).len(), 18);
}

#[tokio::test]
async fn the_index_is_bounded_in_entries() {
    let files = Arc::new(Faulty::default());
    let disk = open(&files, Limits { entries_max: 20, ..limits() }, Duration::ZERO);
    for at in 0..100 {
        offer(&disk, at..at + 1).await;
        assert!(disk.index.lock().entries() <= 20);
    }
    assert!(found(&disk, 0..100).len() >= 10);
}

#[tokio::test]
async fn a_full_disk_switches_writing_off_and_not_reading() {
    let files = Arc::new(Faulty::default());
    let disk = open(&files, limits(), Duration::from_secs(3600));
    offer(&disk, 0..12).await;
    *files.bytes_max.lock() = Some(15_000);
    offer(&disk, 12..40).await;
    assert!(matches!(disk.state(), DiskState::Off(reason) if reason.starts_with("writing: ")));
    assert_eq!(*files.writes_failed.lock(), 1, "it tried once only");
    assert_eq!(found(&disk, 0..40), (0..9).collect::<Vec<_>>(), "the slab that could not be written is gone");
}

#[tokio::test]
async fn it_tries_again_later() {
    let files = Arc::new(Faulty::default());
    let disk = open(&files, limits(), Duration::from_millis(5));
    *files.bytes_max.lock() = Some(500);
    offer(&disk, 0..3).await;
    assert!(matches!(disk.state(), DiskState::Off(_)));
    *files.bytes_max.lock() = None;
    tokio::time::sleep(Duration::from_millis(50)).await;
    offer(&disk, 3..6).await;
    assert_eq!(disk.state(), DiskState::On);
    assert_eq!(found(&disk, 0..6), vec![3, 4, 5]);
}

#[tokio::test]
async fn a_disk_that_cannot_be_read_is_left_alone() {
    let files = Arc::new(Faulty::default());
    let disk = open(&files, limits(), Duration::from_millis(5));
    offer(&disk, 0..3).await;
    *files.read_error.lock() = Some(ErrorKind::Other);
    assert_eq!(disk.read(&key(0), LEN), None);
    assert!(!disk.holds(&key(1), LEN));
    assert!(matches!(disk.state(), DiskState::Off(reason) if reason.starts_with("reading: ")));
    *files.read_error.lock() = None;
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(found(&disk, 0..3), vec![1, 2]);
    assert_eq!(disk.state(), DiskState::On);
}

#[tokio::test]
async fn a_folder_that_cannot_be_opened_is_tried_again() {
    let files = Arc::new(Faulty::default());
    offer(&open(&files, limits(), Duration::ZERO), 0..3).await;
    *files.open_error.lock() = Some(ErrorKind::ReadOnlyFilesystem);
    let disk = open(&files, limits(), Duration::from_millis(5));
    assert!(matches!(disk.state(), DiskState::Off(_)));
    offer(&disk, 3..4).await;
    *files.open_error.lock() = None;
    tokio::time::sleep(Duration::from_millis(50)).await;
    offer(&disk, 4..5).await;
    assert_eq!(found(&disk, 0..5), vec![0, 1, 2, 4]);
}

#[tokio::test]
async fn what_does_not_fit_in_the_queue_or_a_slab_is_dropped() {
    let files = Arc::new(Faulty::default());
    let disk = open(&files, limits(), Duration::ZERO);
    let budget = Budget::new(1 << 30);
    disk.offer(key(0), Bytes::from(vec![0; 9_990]), budget.try_reserve(1).unwrap());
    disk.queue.lock().writing = true;
    for at in 0..5000 {
        disk.offer(key(at), stored(at), budget.try_reserve(1).unwrap());
    }
    assert_eq!(disk.queue.lock().waiting.len(), (1 << 20) / 1048);
    assert_eq!(budget.used(), (1 << 20) / 1048);
}
