use super::*;
use serde_json::json;
use stoa_volume::{Status, VolumeInfo};

fn status() -> Status {
    let volume = VolumeInfo { format_version: 1, uuid: "u-u".into(), created: "2026".into(), compression_level: 1 };
    Status {
        volume,
        read_only: false,
        fenced: None,
        dirty_bytes: 12_900_000,
        uncommitted_operations: 1,
        uploads_running: 3,
        cache_memory_bytes: 1 << 20,
        cache_disk_bytes: 0,
        memory_bytes_max: 1 << 30,
        used_bytes: 5 << 30,
        inodes: 1234,
        last_error: Some("2026-11-21T02:00:00Z 503".into()),
    }
}

fn mounted(volume: &Status) -> Value {
    json!({
        "mountpoint": "/mnt/files", "store": "s3://b/v", "endpoint": "http://h:9000", "state": "mounted", "pid": 7, "uid": 0,
        "started": "2026-11-21T01:00:00Z", "read_only": false, "log": "/var/log/stoa/x.log", "metrics": "http://127.0.0.1:9/metrics",
        "volume": volume,
    })
}

#[test]
fn what_the_volume_reports_is_understood_and_shown() {
    let expected = "\
/mnt/files
  store    s3://b/v at http://h:9000
  state    mounted, read-write, pid 7 of user 0, since 2026-11-21T01:00:00Z
  volume   u-u (format 1)
  used     5.0 GiB in 1,234 inodes
  dirty    12.3 MiB and 1 operation not in the store yet, 3 uploads under way
  memory   1.0 MiB cached; at most 1.0 GiB in all
  disk     0 B cached
  error    2026-11-21T02:00:00Z 503
  log      /var/log/stoa/x.log
  metrics  http://127.0.0.1:9/metrics";
    assert_eq!(text(&mounted(&status())), expected);
}

#[test]
fn a_store_that_is_away_is_shown() {
    let mut value = mounted(&status());
    value["store_health"] = json!({
        "requests": 5000, "bytes_in": 1024, "bytes_out": 2048, "failures_in_row": 1, "waiting": 3, "last_failure": "2026 no route",
    });
    let text = text(&value);
    assert!(text.contains("\n  traffic  5,000 requests, 1.0 KiB received, 2.0 KiB sent\n"), "{text}");
    assert!(text.contains("\n  STORE    DOES NOT WORK: 1 failure in a row; 3 requests waiting\n"), "{text}");
    assert!(text.contains("\n  failed   2026 no route\n"), "{text}");
    value["store_health"]["failures_in_row"] = 0.into();
    assert!(!super::text(&value).contains("STORE"));
}

#[test]
fn a_fenced_mount_says_so_loudly() {
    let fenced = Status { fenced: Some("host b took over".into()), ..status() };
    assert!(text(&mounted(&fenced)).contains("FENCED, takes no writes: host b took over"));
}

#[test]
fn mounts_that_do_not_answer_are_shown_too() {
    let silent = json!({ "mountpoint": "/m", "store": "/s", "state": "silent", "why": "the mount of /m (pid 7) does not answer" });
    assert_eq!(text(&silent), "/m\n  store  /s\n  state  DOES NOT ANSWER: the mount of /m (pid 7) does not answer");
    let unknown = json!({ "mountpoint": "/m", "store": "/s", "state": "unknown" });
    assert_eq!(text(&unknown), "/m\n  store  /s\n  state  its process is gone, or another user's");
}

#[test]
fn an_answer_of_another_version_is_shown_raw() {
    assert_eq!(text(&json!({ "new": 1 })), "{\"new\":1}");
}
