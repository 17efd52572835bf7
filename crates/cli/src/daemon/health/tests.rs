use super::*;
use std::time::{Duration, UNIX_EPOCH};

#[test]
fn trouble_is_only_what_lasts() {
    let past = StoreHealth {
        requests: 1,
        bytes_in: 0,
        bytes_out: 0,
        failures_in_row: 0,
        waiting: 0,
        last_failure: Some("2026-11-21T02:00:00Z 503".into()),
    };
    assert_eq!(past.trouble(), None);
    let present = StoreHealth { failures_in_row: 2, ..past };
    assert_eq!(present.trouble(), Some("2026-11-21T02:00:00Z 503"));
}

#[test]
fn times_are_utc_to_the_second() {
    assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(86_400_999)), "1970-01-02T00:00:00Z");
}
