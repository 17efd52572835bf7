//! How many requests it takes to read, and to bring together, what random writes scattered over segments: few for each segment, not one for each
//! page.

use crate::world::{self, File, REGULAR, Store, content, make, name, noise, quiet};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use std::sync::Arc;
use stoa_objects::{FaultPlan, Injection, Meter, Verb};
use stoa_vfs::{Caller, Ino, OpenFlags, Vfs};
use stoa_volume::{OpenOptions, Silent, Volume};

const PAGE: usize = 4096;
const PAGES: usize = 4096;
/// How often parts of the file were synced. Each time is a segment.
const ROUNDS: usize = 4;
/// What the kernel asks for at once.
const REQUEST: usize = 1 << 20;

struct Scattered {
    store: Store,
    meter: Meter,
    content: bytes::Bytes,
}

impl Scattered {
    /// A file of pages that lie now in one, now in another segment.
    async fn write() -> Self {
        let (memory, meter): (Arc<dyn ObjectStore>, _) = (Arc::new(InMemory::new()), Meter::new());
        let store = meter.wrap(memory);
        world::format(&store).await.unwrap();
        let content = noise(7, PAGES * PAGE);
        let mut pages: Vec<usize> = (0..PAGES).collect();
        pages.shuffle(&mut SmallRng::seed_from_u64(7));
        let volume = open(&store).await;
        let file = make(&volume, "file").await;
        for round in pages.chunks(PAGES / ROUNDS) {
            for number in round {
                world::write(&volume, file, (number * PAGE) as u64, page(&content, *number)).await;
            }
            volume.fsync(file.0).await.unwrap();
        }
        volume.close().await.unwrap();
        Self { store, meter, content }
    }

    /// Of each four pages three die: all segments are sparse, and what lives in them is far apart.
    async fn overwrite_most(&self, volume: &Volume, file: File) {
        for number in (0..PAGES).filter(|number| !number.is_multiple_of(4)) {
            world::write(volume, file, (number * PAGE) as u64, page(&self.content, number)).await;
        }
    }

    fn gets(&self) -> u64 {
        self.meter.counts().of(Verb::Get)
    }

    async fn check(&self, volume: &Volume, file: File) {
        assert!(content(volume, file).await == self.content, "it is not what was written");
    }
}

fn page(content: &bytes::Bytes, number: usize) -> bytes::Bytes {
    content.slice(number * PAGE..(number + 1) * PAGE)
}

async fn open(store: &Store) -> Arc<Volume> {
    world::open(store, quiet()).await
}

/// Opens the file, with what the namespace knows of it in memory.
async fn find(volume: &Volume) -> File {
    let file = world::find(volume, "file").await;
    // Neighbours that were written in one round are one extent.
    assert!(volume.file_info(file.0).await.unwrap().extents.len() > PAGES / 4);
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_takes_few_requests_for_each_segment() {
    let scattered = Scattered::write().await;
    let volume = open(&scattered.store).await;
    let (ino, handle) = find(&volume).await;
    let before = scattered.gets();
    // At an odd place: nothing says that it goes on from there.
    let at = 5 * REQUEST + PAGE;
    let found = volume.read(ino, handle, at as u64, REQUEST).await.unwrap().concat();
    assert!(found == scattered.content.get(at..at + REQUEST).unwrap());
    let gets = scattered.gets() - before;
    assert!(gets <= 2 * ROUNDS as u64, "{gets} requests for {} pages in {ROUNDS} segments", REQUEST / PAGE);
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_reader_found_scattered_is_brought_together() {
    let scattered = Scattered::write().await;
    let volume = open(&scattered.store).await;
    let file = find(&volume).await;
    scattered.check(&volume, file).await;
    volume.gc(&Silent).await.unwrap();
    let extents = volume.file_info(file.0).await.unwrap().extents.len();
    assert!(extents <= 8, "{extents} extents are left");
    scattered.check(&volume, file).await;
    volume.close().await.unwrap();
    // So it stays.
    let volume = open(&scattered.store).await;
    let file = world::find(&volume, "file").await;
    scattered.check(&volume, file).await;
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_write_has_what_lies_around_it_brought_together() {
    let scattered = Scattered::write().await;
    // Nobody knows any more that the file is scattered.
    let volume = open(&scattered.store).await;
    let (ino, handle) = find(&volume).await;
    world::write(&volume, (ino, handle), 0, page(&scattered.content, 0)).await;
    volume.gc(&Silent).await.unwrap();
    let extents = volume.file_info(ino).await.unwrap().extents;
    let around = extents.iter().filter(|extent| extent.offset < 4 << 20).count();
    assert!(around <= 8 && extents.len() > PAGES / 4, "{around} of {} extents are left around it", extents.len());
    scattered.check(&volume, (ino, handle)).await;
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_copy_shares_stays_where_it_is() {
    let scattered = Scattered::write().await;
    let volume = open(&scattered.store).await;
    let (ino, handle) = find(&volume).await;
    let copy = volume.make(Caller::ROOT, Ino::ROOT, &name("copy"), &REGULAR).await.unwrap().attr.ino;
    let size = (PAGES * PAGE) as u64;
    let mut done = 0;
    while done < size {
        done += volume.copy_range(ino, done, copy, done, size - done).await.unwrap();
    }
    let copied = volume.open(copy, OpenFlags::default()).await.unwrap();
    scattered.check(&volume, (ino, handle)).await;
    scattered.check(&volume, (copy, copied)).await;
    let before = scattered.meter.counts().bytes_out;
    volume.gc(&Silent).await.unwrap();
    let sent = scattered.meter.counts().bytes_out - before;
    assert!(sent < size / 4, "{sent} bytes were written to join what is shared");
    scattered.check(&volume, (copy, copied)).await;
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_in_one_place_keeps_no_other_from_being_brought_together() {
    let scattered = Scattered::write().await;
    let volume = open(&scattered.store).await;
    let (ino, _) = find(&volume).await;
    let info = volume.file_info(ino).await.unwrap();
    volume.close().await.unwrap();
    // One bit of the last extent.
    let last = info.extents.last().unwrap();
    let path = Path::from(last.segment.clone().unwrap());
    let mut segment = scattered.store.get(&path).await.unwrap().bytes().await.unwrap().to_vec();
    let page = scattered.content.get(last.offset as usize..(last.offset + last.len) as usize).unwrap();
    let at = segment.windows(page.len()).position(|found| found == page).unwrap();
    segment[at] ^= 1;
    scattered.store.put(&path, segment.into()).await.unwrap();
    let volume = open(&scattered.store).await;
    let handle = volume.open(ino, OpenFlags::default()).await.unwrap();
    for number in 0..scattered.content.len() / REQUEST - 1 {
        volume.read(ino, handle, (number * REQUEST) as u64, REQUEST).await.unwrap();
    }
    volume.gc(&Silent).await.unwrap();
    let extents = volume.file_info(ino).await.unwrap().extents;
    let joined = extents.iter().filter(|extent| extent.len >= 1 << 20).count();
    assert!(joined >= 3 && extents.len() < PAGES / 2, "{} extents are left", extents.len());
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_rewritten_that_is_mounted_read_only() {
    let scattered = Scattered::write().await;
    let volume = world::open(&scattered.store, OpenOptions { read_only: true, ..world::options() }).await;
    let ino = volume.lookup(Ino::ROOT, &name("file")).await.unwrap().attr.ino;
    let file = (ino, volume.open(ino, OpenFlags::default()).await.unwrap());
    let puts = scattered.meter.counts().of(Verb::Put);
    scattered.check(&volume, file).await;
    assert_eq!(scattered.meter.counts().of(Verb::Put), puts);
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn emptying_segments_takes_few_requests_for_each() {
    let scattered = Scattered::write().await;
    let volume = open(&scattered.store).await;
    let (ino, handle) = find(&volume).await;
    scattered.overwrite_most(&volume, (ino, handle)).await;
    volume.close().await.unwrap();
    // Nobody knows any more that the file is scattered.
    let volume = open(&scattered.store).await;
    let file = find(&volume).await;
    let before = scattered.gets();
    let report = volume.gc(&Silent).await.unwrap();
    let gets = scattered.gets() - before;
    assert!(report.deleted_segments >= ROUNDS as u64, "{report:?}");
    assert!(gets < PAGES as u64 / 32, "{gets} requests to move {} pages", PAGES / 4);
    scattered.check(&volume, file).await;
    volume.close().await.unwrap();
}

/// The store refuses for a while to give segments. That says nothing of what is in them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_not_be_moved_for_the_moment_is_moved_later() {
    let scattered = Scattered::write().await;
    let volume = open(&scattered.store).await;
    let (ino, handle) = find(&volume).await;
    scattered.overwrite_most(&volume, (ino, handle)).await;
    volume.close().await.unwrap();

    let plan = FaultPlan::new(1);
    let volume = open(&plan.wrap(Arc::clone(&scattered.store))).await;
    find(&volume).await;
    plan.each(Verb::Get, "data/", Injection::Refuse);
    assert!(volume.gc(&Silent).await.is_err());
    plan.end_each();
    let report = volume.gc(&Silent).await.unwrap();
    assert!(report.rewritten_segments >= ROUNDS as u64, "{report:?}");
    volume.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_could_not_be_brought_together_for_the_moment_is_later() {
    let scattered = Scattered::write().await;
    let plan = FaultPlan::new(1);
    let volume = open(&plan.wrap(Arc::clone(&scattered.store))).await;
    let (ino, handle) = find(&volume).await;
    world::write(&volume, (ino, handle), 0, page(&scattered.content, 0)).await;
    plan.each(Verb::Get, "data/", Injection::Refuse);
    // There is nothing to delete, so that it may well end.
    let _ = volume.gc(&Silent).await;
    plan.end_each();
    volume.gc(&Silent).await.unwrap();
    let extents = volume.file_info(ino).await.unwrap().extents;
    let around = extents.iter().filter(|extent| extent.offset < 4 << 20).count();
    assert!(around <= 8, "{around} extents are left around what was written");
    scattered.check(&volume, (ino, handle)).await;
    volume.close().await.unwrap();
}
