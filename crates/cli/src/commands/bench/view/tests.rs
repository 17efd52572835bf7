use super::*;
use crate::commands::bench::FileFigures;
use crate::metrics::StoreFigures;

fn measured(with_mount: bool) -> Measured {
    let rate = |mib: u64| Rate::new(mib << 20, Duration::from_secs(1));
    let latency = |millis| Latency::of(&[Duration::from_millis(millis), Duration::from_millis(2 * millis)]);
    let store = StoreFigures {
        put: rate(200),
        get: rate(400),
        small_put: latency(20),
        small_get: latency(10),
        list_objects: 116,
        list_seconds: 0.03,
    };
    let mount = FileFigures {
        write_and_fsync: rate(150),
        read_back: rate(900),
        read_back_received_bytes: 0,
        random_read: latency(1),
        small_files: 1000,
        small_create_seconds: 0.1,
        small_sync_seconds: 0.5,
    };
    Measured { name: "s3://b/v".into(), store, mount: with_mount.then_some(mount) }
}

#[test]
fn a_store_alone() {
    let expected = "\
s3://b/v

                          store
large writes        200.0 MiB/s  store: objects of 16 MiB, 8 at once
large reads         400.0 MiB/s  the same objects
small writes  20.0 ms / 40.0 ms  PUT of 4 KiB: p50 / p99
small reads   10.0 ms / 20.0 ms  GET of 4 KiB: p50 / p99
list                    30.0 ms  116 objects";
    assert_eq!(text(&measured(false)), expected);
}

#[test]
fn a_mount_stands_beside_its_store() {
    let text = text(&measured(true));
    for line in [
        "                          store              mount",
        "large writes        200.0 MiB/s        150.0 MiB/s  store: objects of 16 MiB, 8 at once; mount: one file, then fsync",
        "large reads         400.0 MiB/s        900.0 MiB/s  mount: the file read back, 0 B of 900.0 MiB from the store, the rest cached",
        "small reads   10.0 ms / 20.0 ms  1.00 ms / 2.00 ms  GET of 4 KiB; 4 KiB at random places of the file: p50 / p99",
        "small files                                 100 ms  1,000 files of 4 KiB made; then 500 ms until they are in the store",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
}
