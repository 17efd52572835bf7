//! Checksums of content, as servers have them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use crc_fast::{CrcAlgorithm, Digest};
use md5::Md5;
use sha2::{Digest as _, Sha256};
use stoa_objects::hex;
use stoa_objects::s3::{Algorithm, Checksum, Encryption, ObjectInfo, S3Bucket};

/// What the bytes of an object must come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The MD5 that its tag is, in hexadecimal.
    Md5(String),
    /// What the server computed when it was written.
    Sum(Checksum),
    /// The server has nothing that covers all of it.
    Nothing,
}

impl Expected {
    /// What there is for an object, read under its tag. A tag that is an MD5 costs nothing; else it is one request.
    pub(crate) async fn of(s3: &S3Bucket, key: &str, info: &ObjectInfo) -> stoa_objects::Result<Self> {
        let Some(etag) = info.etag.as_deref() else { return Ok(Self::Nothing) };
        // The tag of what is encrypted with a key of a key service, or of a customer, looks like an MD5 and is none.
        let plain = match &info.headers.storage.encryption {
            None => true,
            Some(Encryption::Server { algorithm, .. }) => algorithm == "AES256",
            Some(Encryption::Customer) => false,
        };
        if let Some(md5) = md5_of(etag).filter(|_| plain) {
            return Ok(Self::Md5(md5.to_owned()));
        }
        Self::kept(s3, key, etag).await
    }

    /// The checksum that the server keeps, beside the tag.
    pub(crate) async fn kept(s3: &S3Bucket, key: &str, etag: &str) -> stoa_objects::Result<Self> {
        Ok(s3.checksum(key, etag).await?.map_or(Self::Nothing, Self::Sum))
    }

    /// What computes the same.
    pub(crate) fn hash(&self) -> Hash {
        match self {
            Self::Md5(_) => Hash::Md5(Md5::new()),
            Self::Nothing => Hash::Nothing,
            Self::Sum(Checksum { algorithm, .. }) => match algorithm {
                Algorithm::Sha256 => Hash::Sha256(Sha256::new()),
                Algorithm::Crc64Nvme => Hash::Crc(Digest::new(CrcAlgorithm::Crc64Nvme)),
                Algorithm::Crc32c => Hash::Crc32(Digest::new(CrcAlgorithm::Crc32Iscsi)),
                Algorithm::Crc32 => Hash::Crc32(Digest::new(CrcAlgorithm::Crc32IsoHdlc)),
            },
        }
    }

    /// Whether the bytes that `hash` has seen are the right ones; true if there is nothing to tell by.
    pub(crate) fn holds(&self, hash: Hash) -> bool {
        match self {
            Self::Md5(md5) => *md5 == hash.finish(),
            Self::Sum(sum) => sum.value == hash.finish(),
            Self::Nothing => true,
        }
    }
}

/// Bytes being hashed.
#[derive(Debug)]
pub(crate) enum Hash {
    Md5(Md5),
    Sha256(Sha256),
    Crc(Digest),
    Crc32(Digest),
    Nothing,
}

impl Hash {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(hash) => hash.update(bytes),
            Self::Sha256(hash) => hash.update(bytes),
            Self::Crc(hash) | Self::Crc32(hash) => hash.update(bytes),
            Self::Nothing => {}
        }
    }

    /// In hexadecimal for an MD5, else in base64.
    fn finish(self) -> String {
        match self {
            Self::Md5(hash) => hex(&hash.finalize()),
            Self::Sha256(hash) => BASE64_STANDARD.encode(hash.finalize()),
            Self::Crc(hash) => crc64_text(hash.finalize()),
            Self::Crc32(hash) => {
                let value = u32::try_from(hash.finalize()).unwrap_or_default();
                BASE64_STANDARD.encode(value.to_be_bytes())
            }
            Self::Nothing => String::new(),
        }
    }
}

/// What is known of bytes that are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) md5: [u8; 16],
    pub(crate) crc: u64,
    pub(crate) len: u64,
}

impl Sent {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut crc = Digest::new(CrcAlgorithm::Crc64Nvme);
        crc.update(bytes);
        Self { md5: Md5::digest(bytes).into(), crc: crc.finalize(), len: bytes.len() as u64 }
    }

    /// Whether a tag is the MD5 of the bytes.
    pub(crate) fn is(&self, etag: &str) -> bool {
        md5_of(etag) == Some(hex(&self.md5).as_str())
    }

    /// Of all parts of an object: the tag that they have together as S3 makes it, and their CRC64NVME.
    pub(crate) fn whole(parts: &[Self]) -> (String, u64) {
        let mut md5 = Md5::new();
        let mut crc = None;
        for part in parts {
            md5.update(part.md5);
            crc = Some(match crc {
                None => part.crc,
                Some(crc) => crc_fast::checksum_combine(CrcAlgorithm::Crc64Nvme, crc, part.crc, part.len),
            });
        }
        (format!("{}-{}", hex(&md5.finalize()), parts.len()), crc.unwrap_or_default())
    }
}

/// A CRC64NVME as servers write it.
pub(crate) fn crc64_text(crc: u64) -> String {
    BASE64_STANDARD.encode(crc.to_be_bytes())
}

/// The MD5 that a tag is, if it can be one.
fn md5_of(etag: &str) -> Option<&str> {
    let text = etag.trim_matches('"');
    let is_hex = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then_some(text)
}

#[cfg(test)]
mod tests;
