//! The disk cache behind the whole.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::support::{Fault, Store, checked, payload, source};
use crate::{Cache, DiskOptions, DiskState, Object, Options, Piece};

const LEN: usize = 60_000;

fn open(store: &Arc<Store>, dir: &Path) -> Arc<Cache> {
    let disk = DiskOptions { dir: dir.to_path_buf(), bytes_max: 64 << 20, volume: "volume".to_owned() };
    let options = Options { disk: Some(disk), ..Options::new(16 << 20) };
    Cache::open(source(store), options).unwrap()
}

async fn read_all(cache: &Arc<Cache>, object: &Object, pieces: &[Piece]) {
    let decoded = cache.read(object, pieces, checked()).await.unwrap();
    for (index, bytes) in decoded.iter().enumerate() {
        assert!(bytes == &payload(object.id, index, LEN), "piece {index} is wrong");
    }
}

/// Reads everything, and closes the cache once all of it is on disk.
async fn fill(store: &Arc<Store>, dir: &Path, object: &Object, pieces: &[Piece]) {
    let cache = open(store, dir);
    read_all(&cache, object, pieces).await;
    assert_eq!(cache.fetcher_in_flight().await, 0);
    assert_eq!(cache.usage().disk, DiskState::On);
    assert!(cache.usage().disk_bytes > 0);
    close(cache).await;
}

async fn close(cache: Arc<Cache>) {
    let mut cache = Some(cache);
    for _ in 0..2000 {
        match Arc::try_unwrap(cache.take().unwrap()) {
            Ok(alone) if alone.is_at_rest() => return,
            Ok(alone) => cache = Some(Arc::new(alone)),
            Err(shared) => cache = Some(shared),
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("tasks still hold the cache");
}

fn slab(dir: &Path) -> std::path::PathBuf {
    let files = fs::read_dir(dir.join("volume")).unwrap().map(|file| file.unwrap().path());
    let mut slabs: Vec<_> = files.filter(|path| path.to_string_lossy().contains("slab-")).collect();
    assert_eq!(slabs.len(), 1);
    slabs.remove(0)
}

#[tokio::test]
async fn what_was_read_is_found_on_disk_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new();
    let (object, pieces) = store.object(1, 10, LEN, 0).await;
    fill(&store, dir.path(), &object, &pieces).await;
    assert_eq!(store.gets(), 1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir.path().join("volume")), mode(&slab(dir.path()))), (0o700, 0o600));
    let cache = open(&store, dir.path());
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 1);
    assert_eq!(cache.usage().disk_hits, 10);
    // The next object's id differs, so nothing of the first is mistaken for it.
    let (other, pieces) = store.object(2, 10, LEN, 0).await;
    read_all(&cache, &other, &pieces).await;
    assert_eq!(store.gets(), 2);
}

#[tokio::test]
async fn of_bytes_that_came_corrupt_the_disk_gets_what_came_the_second_time() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new();
    let (object, pieces) = store.object(1, 10, LEN, 0).await;
    store.faults.lock().push(Fault::FlipFirstBit);
    fill(&store, dir.path(), &object, &pieces).await;
    assert_eq!(store.gets(), 2);
    let cache = open(&store, dir.path());
    read_all(&cache, &object, &pieces).await;
    assert_eq!((store.gets(), cache.usage().disk_hits), (2, 10));
}

#[tokio::test]
async fn a_bit_flipped_on_disk_is_a_miss() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new();
    let (object, pieces) = store.object(1, 10, LEN, 0).await;
    fill(&store, dir.path(), &object, &pieces).await;
    // In the payload of the first entry, and in the header of the second.
    let slab = slab(dir.path());
    let mut bytes = fs::read(&slab).unwrap();
    bytes[1000] ^= 1;
    bytes[48 + LEN + 8 + 20] ^= 1;
    fs::write(&slab, bytes).unwrap();
    let cache = open(&store, dir.path());
    read_all(&cache, &object, &pieces).await;
    assert_eq!(cache.usage().disk_hits, 8);
    assert_eq!(store.gets(), 2, "both with one GET");
}

#[tokio::test]
async fn slabs_that_are_torn_are_thrown_away() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new();
    let (object, pieces) = store.object(1, 10, LEN, 0).await;
    fill(&store, dir.path(), &object, &pieces).await;
    let path = slab(dir.path());
    let bytes = fs::read(&path).unwrap();
    for len in [0, 5, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..len]).unwrap();
        let cache = open(&store, dir.path());
        assert_eq!(cache.usage().disk_bytes, 0, "cut at {len}");
        assert!(!path.exists());
    }
    let cache = open(&store, dir.path());
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 2);
}

#[tokio::test]
async fn a_folder_that_is_removed_under_it_costs_only_fetches() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new();
    let (object, pieces) = store.object(1, 10, LEN, 0).await;
    fill(&store, dir.path(), &object, &pieces).await;
    let cache = open(&store, dir.path());
    fs::remove_dir_all(dir.path().join("volume")).unwrap();
    read_all(&cache, &object, &pieces).await;
    assert_eq!(store.gets(), 2);
    assert_eq!(cache.fetcher_in_flight().await, 0);
    assert!(matches!(cache.usage().disk, DiskState::Off(_)), "{:?}", cache.usage().disk);
}

#[tokio::test]
async fn a_second_cache_in_one_folder_goes_without() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new();
    let (object, pieces) = store.object(1, 3, LEN, 0).await;
    let first = open(&store, dir.path());
    let second = open(&store, dir.path());
    assert_eq!(first.usage().disk, DiskState::On);
    assert_eq!(second.usage().disk, DiskState::Off("writing: another process uses it".to_owned()));
    read_all(&second, &object, &pieces).await;
    assert_eq!(store.gets(), 1);
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_no_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let store = Store::new();
    let (object, pieces) = store.object(1, 3, LEN, 0).await;
    let cache = open(&store, file.path());
    assert!(matches!(cache.usage().disk, DiskState::Off(_)));
    read_all(&cache, &object, &pieces).await;
}

#[test]
fn a_volume_name_cannot_leave_the_folder() {
    let store = Store::new();
    for volume in ["", ".", "..", "a/b", "/etc"] {
        let disk = DiskOptions { dir: "/tmp".into(), bytes_max: 1, volume: volume.to_owned() };
        let options = Options { disk: Some(disk), ..Options::new(16 << 20) };
        assert!(Cache::open(source(&store), options).is_err(), "{volume:?}");
    }
}

/// A folder in `dir` that is another user's, of which nothing but its being that may be in the way.
fn other_users_folder(dir: &Path) -> PathBuf {
    if rustix::process::geteuid().is_root() {
        let folder = dir.join("volume");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::chown(&folder, Some(1), None).unwrap();
        return folder;
    }
    PathBuf::from("/usr")
}

#[tokio::test]
async fn a_folder_of_another_user_is_not_used_nor_one_that_a_link_leads_to() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = other_users_folder(dir.path());
    symlink(elsewhere.path(), dir.path().join("link")).unwrap();
    let link = dir.path().join("link");
    for (folder, why) in [(&folder, "another user's"), (&link, "Not a directory")] {
        let volume = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let disk = DiskOptions { dir: folder.parent().unwrap().to_path_buf(), bytes_max: 64 << 20, volume };
        let cache = Cache::open(source(&Store::new()), Options { disk: Some(disk), ..Options::new(16 << 20) }).unwrap();
        assert!(matches!(cache.usage().disk, DiskState::Off(reason) if reason.contains(why)), "{}", folder.display());
        assert!(fs::read_dir(folder).unwrap().all(|file| file.unwrap().file_name() != "lock"));
    }
}
