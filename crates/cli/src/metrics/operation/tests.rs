use super::*;

fn reads(max_ns: u64, buckets: &[(u64, u64)]) -> Operation {
    let total_ns = buckets.iter().map(|(longest, count)| longest * count).sum();
    Operation { name: "read".into(), errors: 1, total_ns, max_ns, buckets: buckets.to_vec() }
}

#[test]
fn quantiles_are_the_ends_of_buckets_and_never_beyond_the_longest() {
    let operation = reads(950, &[(10, 50), (100, 40), (1000, 10)]);
    let nanos = |percent| operation.quantile(percent).as_nanos();
    assert_eq!([50, 51, 90, 91, 99, 100].map(nanos), [10, 100, 100, 950, 950, 950]);
    assert_eq!(operation.count(), 100);
    assert_eq!(operation.mean().as_nanos(), 145);
    assert_eq!(reads(0, &[]).quantile(99), Duration::ZERO);
    assert_eq!(reads(0, &[]).mean(), Duration::ZERO);
}

#[test]
fn two_moments_make_an_interval() {
    let (earlier, later) = (reads(90, &[(10, 5), (100, 1)]), reads(90, &[(10, 9), (50, 2), (100, 1)]));
    let between = in_between(std::slice::from_ref(&earlier), &[later]);
    assert_eq!(between.len(), 1);
    assert_eq!(between[0].buckets, [(10, 4), (50, 2)]);
    assert_eq!((between[0].errors, between[0].max_ns, between[0].total_ns), (0, 50, 140));
    let slower = reads(95, &[(10, 5), (100, 2)]);
    assert_eq!(in_between(std::slice::from_ref(&earlier), &[slower])[0].max_ns, 95);
    assert_eq!(in_between(std::slice::from_ref(&earlier), std::slice::from_ref(&earlier)), []);
    assert_eq!(in_between(&[], std::slice::from_ref(&earlier)), [earlier]);
}
