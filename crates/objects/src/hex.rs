//! Hashes as text.

use std::fmt::Write;

/// Bytes in hexadecimal, in lower case, as tags and signatures have hashes.
#[must_use]
pub fn hex<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> String {
    bytes.into_iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
