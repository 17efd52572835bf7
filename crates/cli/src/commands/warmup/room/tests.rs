use super::*;

#[test]
fn memory_counts_what_is_read_and_disk_what_is_fetched() {
    let memory = Cache { memory_bytes_max: 100, ..Cache::default() };
    let room = Room::of(&memory);
    assert_eq!((room.bytes_max, room.on_disk, room.read_bytes_max()), (100, false, 100));
    assert!(!room.is_used_up(&memory, &Cache { fetched_bytes: 1000, ..memory.clone() }));
    let disk = Cache { disk_bytes_max: 500, fetched_bytes: 50, ..memory };
    let room = Room::of(&disk);
    assert_eq!((room.bytes_max, room.on_disk, room.read_bytes_max()), (500, true, u64::MAX));
    assert!(!room.is_used_up(&disk, &Cache { fetched_bytes: 549, ..disk.clone() }));
    assert!(room.is_used_up(&disk, &Cache { fetched_bytes: 550, ..disk.clone() }));
}

#[test]
fn a_disk_that_lags_behind_is_told_of() {
    let before = Cache { disk_bytes_max: 1 << 30, fetched_bytes: 5, disk_bytes: 10 << 20, ..Cache::default() };
    let room = Room::of(&before);
    let now = Cache { fetched_bytes: 60 << 20, disk_bytes: 42 << 20, ..before.clone() };
    assert!(room.lag(&before, &now).unwrap().contains("kept 32.0 MiB of the 60.0 MiB"));
    assert_eq!(room.lag(&before, &Cache { disk_bytes: 68 << 20, ..now.clone() }), None);
    assert_eq!(Room::of(&Cache::default()).lag(&before, &now), None);
}
