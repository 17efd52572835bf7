//! The checksum of `volume.json`, in its last field. The key of all names' hashes is in that object: with one bit of it flipped,
//! no file would be found by its name any more, and nothing would say so.

use crate::segment::checksum;

/// What comes before the digits.
const FIELD: &str = ",\n  \"checksum\": \"";

/// What comes after them.
const END: &str = "\"\n}\n";

/// `text`, a pretty JSON object with fields, with a checksum of all before it as its last field.
pub(super) fn seal(text: &str) -> Option<String> {
    let fields = text.strip_suffix("\n}")?;
    Some(format!("{fields}{FIELD}{:016x}{END}", checksum([fields.as_bytes()])))
}

/// The whole text, if every byte of it is as it was sealed.
pub(super) fn unseal(stored: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(stored).ok()?;
    let (fields, rest) = text.rsplit_once(FIELD)?;
    let digits = rest.strip_suffix(END)?;
    (digits == format!("{:016x}", checksum([fields.as_bytes()]))).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"format_version\": 1\n}";

    /// The format: FORMAT.md, "volume.json".
    #[test]
    fn the_checksum_is_the_last_field() {
        let sealed = seal(TEXT).unwrap();
        assert_eq!(sealed, "{\n  \"format_version\": 1,\n  \"checksum\": \"781ff25871187682\"\n}\n");
        assert_eq!(unseal(sealed.as_bytes()), Some(&*sealed));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let sealed = seal(TEXT).unwrap().into_bytes();
        for bit in 0..8 * sealed.len() {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unseal(&flipped), None, "bit {bit}");
        }
        assert_eq!(unseal(TEXT.as_bytes()), None);
        assert_eq!(unseal(b""), None);
    }

    #[test]
    fn only_an_object_with_fields_is_sealed() {
        assert_eq!(seal("{}"), None);
    }
}
