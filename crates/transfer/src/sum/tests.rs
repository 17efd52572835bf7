use super::*;

fn of(expected: &Expected, bytes: &[u8]) -> String {
    let mut hash = expected.hash();
    hash.update(bytes);
    hash.finish()
}

fn sum(algorithm: Algorithm, value: &str) -> Expected {
    Expected::Sum(Checksum { algorithm, value: value.to_owned() })
}

#[test]
fn sums_are_those_of_the_specifications() {
    // The check values of the catalogues: of the digits 1 to 9.
    let digits = b"123456789";
    assert_eq!(of(&Expected::Md5(String::new()), digits), "25f9e794323b453885f5181f1b624d0b");
    assert_eq!(of(&sum(Algorithm::Crc32, ""), digits), BASE64_STANDARD.encode(0xCBF4_3926_u32.to_be_bytes()));
    assert_eq!(of(&sum(Algorithm::Crc32c, ""), digits), BASE64_STANDARD.encode(0xE306_9283_u32.to_be_bytes()));
    let crc64 = crc64_text(0xAE8B_1486_0A79_9888);
    assert_eq!(of(&sum(Algorithm::Crc64Nvme, ""), digits), crc64);
    assert_eq!(of(&sum(Algorithm::Sha256, ""), digits), "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
    let mut hash = sum(Algorithm::Crc64Nvme, &crc64).hash();
    hash.update(b"12345678");
    assert!(!sum(Algorithm::Crc64Nvme, &crc64).holds(hash));
}

#[test]
fn parts_come_to_what_the_whole_is() {
    let parts = [Sent::of(b"1234"), Sent::of(b"567"), Sent::of(b"89")];
    let (etag, crc) = Sent::whole(&parts);
    assert_eq!(crc, Sent::of(b"123456789").crc);
    assert!(etag.ends_with("-3") && etag.len() == 34, "{etag}");
    assert!(Sent::of(b"123456789").is("\"25f9e794323b453885f5181f1b624d0b\""));
}

#[test]
fn tags_that_are_no_md5_say_nothing() {
    assert_eq!(md5_of("\"25f9e794323b453885f5181f1b624d0b-3\""), None);
    assert_eq!(md5_of("\"opaque\""), None);
    assert!(Expected::Nothing.holds(Hash::Nothing));
}
