//! Names and values of attributes as user metadata: names of headers, in lower case, and values of visible ASCII.
//!
//! Every other byte of a name is written as `%` and two digits, so that every name comes back as it was. Other values are written in
//! base64, after `base64:`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "base64:";

/// What servers take for text in another encoding (RFC 2047), and change.
const ENCODED_WORD: &str = "=?";

/// The name of metadata for the name of an attribute.
pub(super) fn encode_name(name: &str) -> String {
    name.bytes().fold(String::new(), |text, byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => text + char::from(byte).encode_utf8(&mut [0; 4]),
        _ => format!("{text}%{byte:02x}"),
    })
}

/// The name of an attribute for the name of metadata. What was not written here stays as it is.
pub(super) fn decode_name(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let digits = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (Some(byte), Some(next)) = (digits, after.get(2..)) else { return text.to_owned() };
        bytes.push(byte);
        rest = next;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok().filter(|name| encode_name(name) == text).unwrap_or_else(|| text.to_owned())
}

/// The value of metadata for that of an attribute.
pub(super) fn encode_value(value: &[u8]) -> String {
    let plain = |text: &&str| {
        let visible = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        visible && text.trim() == *text && !text.is_empty() && !text.starts_with(BEGIN) && !text.contains(ENCODED_WORD)
    };
    let text = std::str::from_utf8(value).ok().filter(plain);
    text.map_or_else(|| format!("{BEGIN}{}", STANDARD.encode(value)), str::to_owned)
}

/// The value of an attribute for that of metadata.
pub(super) fn decode_value(text: &str) -> Vec<u8> {
    let decoded = text.strip_prefix(BEGIN).and_then(|encoded| STANDARD.decode(encoded).ok());
    decoded.unwrap_or_else(|| text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_come_back(name in "\\PC{1,20}|[a-zA-Z%0-9]{1,9}") {
            let text = encode_name(&name);
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()), "{}", text);
            prop_assert_eq!(decode_name(&text), name);
        }

        #[test]
        fn values_come_back(value: Vec<u8>) {
            prop_assert_eq!(decode_value(&encode_value(&value)), value);
        }

        #[test]
        fn texts_come_back(value in "[ -~]{0,20}") {
            let text = encode_value(value.as_bytes());
            prop_assert!(text.trim() == text);
            prop_assert_eq!(decode_value(&text), value.into_bytes());
        }
    }

    #[test]
    fn what_others_wrote_is_shown_as_it_is() {
        assert_eq!(
            (decode_name("100%"), decode_name("a%zz"), decode_name("a%41")),
            ("100%".into(), "a%zz".into(), "aA".into())
        );
        assert_eq!(decode_value("base64:!"), b"base64:!");
    }
}
