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
