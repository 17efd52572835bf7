use super::*;

#[test]
fn sizes_have_one_decimal_and_never_four_digits_before_it() {
    for (number, text) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        (1023 << 10, "1023.0 KiB"),
        (12_900_000, "12.3 MiB"),
        (u64::MAX, "16.0 EiB"),
    ] {
        assert_eq!(bytes(number), text);
    }
}

#[test]
fn counts_are_grouped() {
    assert_eq!(count(0), "0");
    assert_eq!(count(999), "999");
    assert_eq!(count(1000), "1,000");
    assert_eq!(count(1_234_567), "1,234,567");
    assert_eq!(plural(1, "file"), "1 file");
    assert_eq!(plural(2000, "file"), "2,000 files");
}

#[test]
fn short_numbers_fit_into_five_places() {
    for (number, step, text) in [
        (0, 1024, "0"),
        (1023, 1024, "1023"),
        (1024, 1024, "1.0K"),
        (12_900_000, 1024, "12.3M"),
        ((1 << 20) - 1, 1024, "1.0M"),
        (1000 << 20, 1024, "1000M"),
        (999, 1000, "999"),
        (1500, 1000, "1.5K"),
        (999_999, 1000, "1.0M"),
        (u64::MAX, 1024, "16.0E"),
    ] {
        assert_eq!(short(number, step), text);
    }
    for bits in 0..64 {
        assert!(short((1 << bits) - 1, 1024).len() <= 5 && short(1 << bits, 1000).len() <= 5, "2^{bits}");
    }
}

#[test]
fn times_have_three_figures() {
    for (nanos, text) in [
        (0, "0 ns"),
        (850, "850 ns"),
        (1_234, "1.23 us"),
        (9_999, "10.0 us"),
        (45_600_000, "45.6 ms"),
        (99_960_000, "100 ms"),
        (999_600_000, "1.00 s"),
        (1_200_000_000, "1.20 s"),
        (99_000_000_000, "99.0 s"),
        (185_000_000_000, "3m 5s"),
        (7_500_000_000_000, "2h 5m"),
    ] {
        assert_eq!(time(Duration::from_nanos(nanos)), text);
    }
}
