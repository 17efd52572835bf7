use super::{ReadAhead, Readers, Share};
use std::sync::Arc;
use std::time::{Duration, Instant};

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;

/// Longer than any test takes.
const HOUR: Duration = Duration::from_secs(3600);

/// A name, reads of `(offset, len)`, and what each is to give.
type Case<'a> = (&'a str, &'a [(u64, u64)], &'a [Option<(u64, u64)>]);

/// A reader that may read ahead so many bytes, whoever else reads.
fn alone(bytes_max: u64) -> ReadAhead {
    ReadAhead::new(Readers::new(bytes_max, 2 * bytes_max, HOUR))
}

/// Feeds reads of `(offset, len)`, and returns what each gave, as `(start, end)`.
fn feed(policy: &ReadAhead, size: u64, reads: &[(u64, u64)]) -> Vec<Option<(u64, u64)>> {
    reads
        .iter()
        .map(|(offset, len)| policy.on_read(*offset, *len, size).map(|range| (range.start, range.end)))
        .collect()
}

#[test]
fn it_doubles_up_to_the_maximum_and_covers_the_file_once() {
    let (size, step, max) = (200 * M, 128 * K, 32 * M);
    let policy = alone(max);
    let mut next = step;
    let mut longest = 0;
    for offset in (0..size).step_by(usize::try_from(step).unwrap()) {
        if let Some(range) = policy.on_read(offset, step, size) {
            assert_eq!(range.start, next, "no byte is left out or given twice");
            assert!(range.end - (offset + step) <= max && range.end <= size);
            longest = longest.max(range.end - range.start);
            next = range.end;
        }
        assert!(next >= (offset + step).min(size), "it stays ahead");
    }
    assert_eq!(next, size);
    assert!((16 * M..=32 * M).contains(&longest), "{longest}");
}

#[test]
fn it_starts_small_at_the_start_and_after_two_reads_elsewhere() {
    let cases: &[Case<'_>] = &[
        ("start", &[(0, 4 * K)], &[Some((4 * K, 132 * K))]),
        ("elsewhere", &[(M, 4 * K), (M + 4 * K, 4 * K)], &[None, Some((M + 8 * K, M + 136 * K))]),
        ("large reads", &[(M, M), (2 * M, M)], &[None, Some((3 * M, 6 * M))]),
        ("nothing read", &[(0, 0)], &[None]),
        ("beyond the end", &[(10 * M, K)], &[None]),
        ("to the end", &[(0, 10 * M)], &[None]),
        ("near the end", &[(10 * M - 8 * K, 4 * K), (10 * M - 4 * K, 4 * K)], &[None, None]),
    ];
    for (name, reads, wanted) in cases {
        assert_eq!(feed(&alone(32 * M), 10 * M, reads), *wanted, "{name}");
    }
}

#[test]
fn a_small_file_is_fetched_whole_wherever_it_is_read_first() {
    let cases: &[Case<'_>] = &[
        ("from its start", &[(0, 4 * K), (4 * K, 4 * K)], &[Some((4 * K, M)), None]),
        ("in the middle", &[(500 * K, 4 * K), (504 * K, 4 * K), (8 * K, 4 * K)], &[Some((0, M)), None, None]),
        ("all at once", &[(0, M)], &[None]),
    ];
    for (name, reads, wanted) in cases {
        assert_eq!(feed(&alone(32 * M), M, reads), *wanted, "{name}");
    }
    assert_eq!(feed(&alone(32 * M), M + 1, &[(500 * K, 4 * K)]), [None]);
}

#[test]
fn with_no_budget_it_does_nothing() {
    assert_eq!(feed(&alone(0), M, &[(0, K), (K, K), (2 * K, K)]), vec![None; 3]);
}

#[test]
fn random_reads_give_nothing() {
    let policy = alone(32 * M);
    let mut offset = 12_345 * K;
    for _ in 0..1000 {
        offset = (offset.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)) % (1 << 40) / 4096 * 4096;
        assert_eq!(policy.on_read(offset | 4096, 4 * K, 1 << 40), None);
    }
}

#[test]
fn strided_reads_give_nothing() {
    for stride in [8 * K, 16 * K, 64 * K, M] {
        let policy = alone(32 * M);
        for at in 1..1000 {
            assert_eq!(policy.on_read(at * stride, 4 * K, 1 << 40), None, "stride {stride}");
        }
    }
}

#[test]
fn reading_backwards_gives_nothing() {
    let policy = alone(32 * M);
    for at in (1..1000).rev() {
        assert_eq!(policy.on_read(at * 4 * K, 4 * K, 1 << 40), None);
    }
}

#[test]
fn the_first_random_read_stops_it_and_it_starts_anew_from_nothing() {
    let policy = alone(32 * M);
    let sequential: Vec<_> = (0..400).map(|at| (at * 128 * K, 128 * K)).collect();
    feed(&policy, 1 << 40, &sequential);
    let reads = [(M * 1000, 4 * K), (M * 1000 + 4 * K, 4 * K), (M * 2000, 4 * K), (51 * M, 128 * K)];
    let begun = M * 1000 + 8 * K;
    assert_eq!(feed(&policy, 1 << 40, &reads), vec![None, Some((begun, begun + 128 * K)), None, None]);
}

/// The kernel's requests of one sequential reader arrive by several threads, in blocks of a few, shuffled.
#[test]
fn requests_that_overtake_one_another_are_sequential() {
    let orders: &[&[u64]] = &[&[0, 2, 1, 3], &[1, 0, 3, 2], &[0, 3, 2, 1], &[3, 2, 1, 0], &[2, 0, 1, 3], &[1, 2, 3, 0]];
    for order in orders {
        let policy = alone(32 * M);
        // The first request arrives first: nothing else is asked for before it.
        let mut next = policy.on_read(0, 128 * K, 1 << 40).unwrap().end;
        let mut longest = 0;
        for block in 0..200 {
            for within in *order {
                let offset = (1 + block * 4 + within) * 128 * K;
                if let Some(range) = policy.on_read(offset, 128 * K, 1 << 40) {
                    assert!(range.start >= next, "{order:?}: {range:?} after {next}");
                    longest = longest.max(range.end - range.start);
                    next = range.end;
                }
            }
        }
        assert!(longest >= 8 * M, "{order:?} grew to {longest} only");
    }
}

#[test]
fn pages_that_the_kernel_had_are_forgiven() {
    let policy = alone(32 * M);
    let mut given = 0;
    // Every sixteenth request is not made.
    for at in (0..2000).filter(|at| at % 16 != 15) {
        given += policy.on_read(at * 128 * K, 128 * K, 1 << 40).map_or(0, |range| range.end - range.start);
    }
    assert!(given >= 1990 * 128 * K, "{given}");
}

#[test]
fn what_a_long_reader_has_passed_is_given_up_once_and_what_may_still_be_read_is_not() {
    let policy = alone(8 * M);
    let step = 256 * K;
    let mut given_up = 0;
    for offset in (0..200 * M).step_by(usize::try_from(step).unwrap()) {
        let _ahead = policy.on_read(offset, step, 1 << 40);
        if let Some(behind) = policy.behind() {
            assert_eq!((behind.start, behind.end % M), (given_up, 0));
            assert!(behind.end + 8 * step <= offset + step, "{behind:?} at {offset}");
            given_up = behind.end;
        }
        assert_eq!(policy.behind(), None);
    }
    assert!(given_up > 190 * M, "{given_up}");
}

#[test]
fn a_short_reader_gives_nothing_up() {
    let policy = alone(32 * M);
    for at in 0..20 {
        let _ahead = policy.on_read(at * 256 * K, 256 * K, 1 << 40);
        assert_eq!(policy.behind(), None, "{at}");
    }
    let _random = policy.on_read(500 * M + K, K, 1 << 40);
    assert_eq!(policy.behind(), None);
}

/// What readers have ahead of them, of 64 MiB at most each and 128 MiB together, when each has read the same.
fn shares(readers: &[ReadAhead]) -> Vec<u64> {
    let mut fetched = vec![0; readers.len()];
    for offset in (0..400 * M).step_by(usize::try_from(M).unwrap()) {
        for (reader, fetched) in readers.iter().zip(&mut fetched) {
            *fetched = reader.on_read(offset, M, 1 << 40).map_or(*fetched, |range| range.end);
        }
    }
    fetched.into_iter().map(|end| end - 400 * M).collect()
}

#[test]
fn readers_share_what_there_is_evenly() {
    for (count, least, most) in [(1, 56 * M, 64 * M), (2, 32 * M, 48 * M), (4, 16 * M, 32 * M), (100, 0, 8 * M)] {
        let shared = Readers::new(64 * M, 128 * M, HOUR);
        let readers: Vec<_> = (0..count).map(|_| ReadAhead::new(Arc::clone(&shared))).collect();
        let shares = shares(&readers);
        assert!(shares.iter().all(|share| (least..=most).contains(share)), "{count}: {shares:?}");
        drop(readers);
        let now = shared.now(Instant::now());
        assert_eq!(now.most(&Share::default()), 64 * M, "{count} give back what they had");
    }
}

#[test]
fn a_late_reader_finds_room_and_one_that_stopped_takes_little() {
    let shared = Readers::new(64 * M, 128 * M, HOUR);
    let mut readers: Vec<_> = (0..3).map(|_| ReadAhead::new(Arc::clone(&shared))).collect();
    let early = shares(&readers);
    assert!(early.iter().sum::<u64>() <= 128 * M, "{early:?}");
    readers.push(ReadAhead::new(Arc::clone(&shared)));
    assert!(shares(&readers[3..])[0] >= 8 * M);
}

#[test]
fn who_has_stopped_is_not_counted_for_long() {
    let (shared, start, second) =
        (Readers::new(64 * M, 128 * M, Duration::from_secs(2)), Instant::now(), Duration::from_secs(1));
    let most = |at| shared.now(at).most(&Share::default());
    let idle = shared.now(start).change(Share::default(), 100 * M);
    assert_eq!(most(start + second), 14 * M);
    let busy = shared.now(start + 3 * second).change(Share::default(), 20 * M);
    assert_eq!(most(start + 3 * second), 8 * M, "both are counted");
    assert_eq!(most(start + 5 * second), 54 * M, "only who reads");
    assert_eq!(shared.now(start + 5 * second).most(&busy), 64 * M);
    let idle = shared.now(start + 5 * second).change(idle, 40 * M);
    let busy = shared.now(start + 5 * second).change(busy, 0);
    assert_eq!(most(start + 5 * second), 44 * M);
    assert_eq!(most(start + 60 * second), 64 * M);
    let _late = shared.now(start + 60 * second).change(idle, 0);
    let _none = shared.now(start + 60 * second).change(busy, 0);
    assert_eq!(most(start + 60 * second), 64 * M);
}

#[test]
fn large_windows_end_where_requests_do() {
    let policy = alone(64 * M);
    let ends: Vec<_> = (0..200).filter_map(|at| policy.on_read(at * M, M, 1 << 40)).map(|range| range.end).collect();
    let aligned = ends.iter().skip_while(|end| **end < 16 * M);
    assert!(aligned.clone().count() > 10 && aligned.clone().all(|end| end.is_multiple_of(8 * M)), "{ends:?}");
}

#[test]
fn what_lies_scattered_is_fetched_in_longer_stretches() {
    let policy = alone(64 * M);
    let lengths = |reads: std::ops::Range<u64>| -> Vec<u64> {
        reads.filter_map(|at| policy.on_read(at * M, M, 1 << 40)).map(|range| range.end - range.start).collect()
    };
    assert!(lengths(0..200).ends_with(&[8 * M; 10]));
    policy.found_scattered(true);
    assert!(lengths(200..400).ends_with(&[32 * M; 4]));
    policy.found_scattered(false);
    assert!(lengths(400..600).ends_with(&[8 * M; 10]));
}
