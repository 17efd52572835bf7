use super::*;

#[test]
fn a_bucket_ends_where_the_next_begins() {
    for bucket in 0..BUCKETS - 1 {
        let end = longest(bucket);
        assert_eq!(place(end), bucket, "{end} ns");
        assert_eq!(place(end + 1), bucket + 1, "{} ns", end + 1);
    }
}

#[test]
fn from_a_microsecond_on_buckets_are_at_most_a_quarter_wide() {
    for bucket in place(1_024)..BUCKETS - 1 {
        let (begin, end) = (longest(bucket - 1) + 1, longest(bucket) + 1);
        assert!((end - begin) * 4 <= begin, "{begin}..{end} ns");
    }
    assert!(longest(BUCKETS - 2) > 15 * 60 * 1_000_000_000);
}

#[test]
fn no_time_is_too_short_or_too_long() {
    assert_eq!((place(0), place(u64::MAX)), (0, BUCKETS - 1));
    let histogram = Histogram::default();
    histogram.add(Duration::ZERO);
    histogram.add(Duration::from_secs(86_400));
    histogram.add(Duration::from_micros(10));
    histogram.add(Duration::from_micros(10));
    let times = histogram.times();
    assert_eq!((times.count(), times.max), (4, Duration::from_secs(86_400)));
    assert_eq!(times.total, Duration::from_secs(86_400) + Duration::from_micros(20));
    let counts: Vec<u64> = times.buckets.iter().map(|(_, count)| *count).collect();
    assert_eq!(counts, [1, 2, 1]);
    let ten = times.buckets[1].0;
    assert!(ten >= Duration::from_micros(10) && ten < Duration::from_nanos(12_500), "{ten:?}");
}

#[test]
fn threads_lose_nothing() {
    let histogram = Histogram::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10_000).for_each(|micros| histogram.add(Duration::from_micros(micros))));
        }
    });
    assert_eq!(histogram.times().count(), 40_000);
}

/// The bound is far above what it takes, so that a machine under load does not fail it.
#[test]
fn adding_is_cheap() {
    let histogram = Histogram::default();
    let since = std::time::Instant::now();
    (0..1_000_000).for_each(|nanos| histogram.add(Duration::from_nanos(nanos * 977)));
    let each = since.elapsed() / 1_000_000;
    assert!(each < Duration::from_micros(1), "{each:?} each");
}
