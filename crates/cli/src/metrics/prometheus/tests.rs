use super::*;
use crate::metrics::snapshot::example;

#[test]
fn every_sample_belongs_to_a_family_that_is_explained_once() {
    let text = text(&example(2, 3));
    let mut families = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(!families.contains(&name), "{name} twice");
            assert!(help.ends_with('.'), "{help}");
            families.push(name);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(Some(&name), families.last());
            assert!(["counter", "gauge", "histogram"].contains(&kind));
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
        } else {
            let name = line.split(['{', ' ']).next().unwrap();
            let family = families.last().unwrap();
            let suffixes = ["", "_bucket", "_sum", "_count"];
            assert!(suffixes.iter().any(|suffix| name == format!("{family}{suffix}")), "{line} below {family}");
            line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap();
        }
    }
    assert!(text.ends_with('\n') && families.iter().all(|name| name.starts_with("stoa_")));
}

#[test]
fn a_histogram_is_cumulative_and_in_seconds() {
    let mut snapshot = example(2, 1);
    snapshot.operations[0].buckets = vec![(511, 5), (20_000, 3), (2_000_000_000, 1), (900_000_000_000, 1)];
    snapshot.operations[0].total_ns = 1_500_000_000;
    let text = text(&snapshot);
    for line in [
        "stoa_operation_duration_seconds_bucket{operation=\"read\",le=\"0.000004\"} 5",
        "stoa_operation_duration_seconds_bucket{operation=\"read\",le=\"0.000016\"} 5",
        "stoa_operation_duration_seconds_bucket{operation=\"read\",le=\"0.000064\"} 8",
        "stoa_operation_duration_seconds_bucket{operation=\"read\",le=\"1\"} 8",
        "stoa_operation_duration_seconds_bucket{operation=\"read\",le=\"5\"} 9",
        "stoa_operation_duration_seconds_bucket{operation=\"read\",le=\"+Inf\"} 10",
        "stoa_operation_duration_seconds_sum{operation=\"read\"} 1.5",
        "stoa_operation_duration_seconds_count{operation=\"read\"} 10",
        "stoa_store_requests_total{verb=\"get\"} 10",
        "stoa_dirty_bytes 12900000",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[test]
fn names_that_break_quotes_are_escaped() {
    let mut snapshot = example(2, 1);
    snapshot.mountpoint = "/a\"b\\c\nd".into();
    assert!(text(&snapshot).contains(r#"mountpoint="/a\"b\\c\nd""#));
}
