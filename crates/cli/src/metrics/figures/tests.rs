use super::*;

#[test]
fn percentiles_are_times_that_occurred() {
    let times: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
    let latency = Latency::of(&times);
    assert_eq!((latency.count, latency.p50_seconds, latency.p99_seconds, latency.max_seconds), (200, 0.1, 0.198, 0.2));
    let one = Latency::of(&times[..1]);
    assert_eq!((one.p50_seconds, one.p99_seconds, one.max_seconds), (0.001, 0.001, 0.001));
    assert_eq!(Latency::of(&[]).max_seconds, 0.0);
}

#[test]
fn no_time_at_all_is_no_division_by_nothing() {
    assert!(Rate::new(1, Duration::ZERO).bytes_per_second.is_finite());
    assert_eq!(Rate::new(1000, Duration::from_secs(2)).bytes_per_second, 500.0);
}
