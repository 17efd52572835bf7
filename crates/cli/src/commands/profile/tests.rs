use super::*;

fn operation(name: &str, buckets: &[(u64, u64)]) -> Operation {
    let total_ns = buckets.iter().map(|(longest, count)| longest * count).sum();
    let max_ns = buckets.last().map_or(0, |(longest, _)| *longest);
    Operation { name: name.into(), errors: 2, total_ns, max_ns, buckets: buckets.to_vec() }
}

fn measured() -> Measured {
    let operations = vec![operation("getattr", &[(1_000, 10)]), operation("read", &[(2_000, 90), (10_000_000, 10)])];
    Measured::of("/m".into(), 61_000_000_000, true, operations)
}

#[test]
fn what_took_longest_stands_first() {
    let expected = "\
/m: 61.0 s since it was mounted

operation  count    total  share     mean      p50      p90      p99      max  errors
read         100   100 ms   100%  1.00 ms  2.00 us  2.00 us  10.0 ms  10.0 ms       2
getattr       10  10.0 us     0%  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us       2";
    assert_eq!(measured().text(), expected);
}

#[test]
fn programs_get_seconds() {
    let value = measured().json();
    assert_eq!(value["operations"][0]["operation"], "read");
    assert_eq!(value["operations"][0]["p99_seconds"], 0.01);
    assert_eq!(value["operations"][1]["count"], 10);
    assert_eq!(value["seconds"], 61.0);
}

#[test]
fn nothing_is_said_in_words() {
    let text = Measured::of("/m".into(), 1_000_000_000, false, Vec::new()).text();
    assert!(text.starts_with("/m: 1.00 s while it was watched, and no operation reached it"), "{text}");
}
