use super::{bytes, same};

#[test]
fn a_seed_gives_the_same_bytes_and_no_other_does() {
    assert_eq!(bytes(1, 10_000), bytes(1, 10_000));
    assert_ne!(bytes(1, 10_000), bytes(2, 10_000));
}

#[test]
fn a_difference_is_located() {
    let mut torn = bytes(3, 9000);
    torn[8000] ^= 1;
    let error = same(&torn, &bytes(3, 9000)).unwrap_err().to_string();
    assert!(error.starts_with("byte 8000 "), "{error}");
    let error = same(&torn[..100], &bytes(3, 9000)).unwrap_err().to_string();
    assert_eq!(error, "100 bytes, not 9000");
}
