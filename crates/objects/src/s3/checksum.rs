//! The checksum that a server keeps of an object.

use super::S3Bucket;
use super::call::Call;
use crate::{Result, Verb};
use hyper::Method;
use hyper::header::IF_MATCH;

/// A checksum of all bytes of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checksum {
    /// How it is computed.
    pub algorithm: Algorithm,
    /// In base64, as the server gives it.
    pub value: String,
}

/// How a checksum is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `CRC64NVME`.
    Crc64Nvme,
    /// `CRC32C`.
    Crc32c,
    /// `CRC32`.
    Crc32,
    /// `SHA256`.
    Sha256,
}

/// The headers they come in.
const HEADERS: [(&str, Algorithm); 4] = [
    ("x-amz-checksum-sha256", Algorithm::Sha256),
    ("x-amz-checksum-crc64nvme", Algorithm::Crc64Nvme),
    ("x-amz-checksum-crc32c", Algorithm::Crc32c),
    ("x-amz-checksum-crc32", Algorithm::Crc32),
];

impl S3Bucket {
    /// Asks for the checksum of all bytes of an object that has the tag `etag`. `None` if the server keeps none, or only one of
    /// the checksums of its parts.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`]; [`crate::Error::Conflict`] when it has another tag.
    pub async fn checksum(&self, key: &str, etag: &str) -> Result<Option<Checksum>> {
        let mut call = Call::object(Verb::Head, "head", Method::HEAD, key)?.reading();
        call.header_if("x-amz-checksum-mode", Some("ENABLED"))?;
        call.header(IF_MATCH, etag)?;
        let of_parts = |value: &str| value.contains('-');
        self.inner
            .run(&call, |answer| {
                if answer.header("x-amz-checksum-type").is_some_and(|kind| kind == "COMPOSITE") {
                    return Ok(None);
                }
                let found = HEADERS.iter().find_map(|(name, algorithm)| {
                    let value = answer.header(name).filter(|value| !of_parts(value))?;
                    Some(Checksum { algorithm: *algorithm, value })
                });
                Ok(found)
            })
            .await
    }
}
