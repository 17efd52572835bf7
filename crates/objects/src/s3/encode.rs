//! Keys and values in URLs.

/// How a byte that is not unreserved is written.
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// A key as the path of a URL: every byte but the unreserved ones and `/` percent-encoded. Nothing is normalised.
pub(super) fn key(key: &str, into: &mut String) {
    encode(key, into, |byte| byte == b'/');
}

/// A value in a query, where also `/` is encoded, as signatures demand.
pub(super) fn query(value: &str, into: &mut String) {
    encode(value, into, |_| false);
}

fn encode(text: &str, into: &mut String, keep: impl Fn(u8) -> bool) {
    into.reserve(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') || keep(byte) {
            into.push(char::from(byte));
        } else {
            let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().map_or('0', char::from);
            into.push('%');
            into.push(digit(byte >> 4));
            into.push(digit(byte & 15));
        }
    }
}

/// What a listing with `encoding-type=url` means: `+` is a space, as in forms. `None` if it means no UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut nibble = || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                (nibble()? << 4) | nibble()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
