use super::*;
use serde_json::json;

#[test]
fn only_a_fenced_mount_is_shut_out() {
    for status in [
        json!({ "state": "mounted" }),
        json!({ "objects": { "dirty_bytes": 5 } }),
        json!({ "volume": { "fenced": null, "dirty_bytes": 5, "uncommitted_operations": 1 } }),
    ] {
        assert_eq!(ShutOut::read(&status), None, "{status}");
    }
}

#[test]
fn what_is_lost_is_counted() {
    let shut_out = |dirty, operations| {
        let fenced = json!({ "fenced": "why", "dirty_bytes": dirty, "uncommitted_operations": operations });
        ShutOut::read(&json!({ "volume": fenced })).unwrap().text()
    };
    let text = shut_out(8 << 20, 5);
    assert!(
        text.contains("another mount has taken its volume over") && text.contains("8.0 MiB and 5 operations"),
        "{text}"
    );
    assert!(!shut_out(0, 0).contains("0 B"), "{}", shut_out(0, 0));
}
