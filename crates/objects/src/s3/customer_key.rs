//! SSE-C: objects that the server encrypts with a key that only its user keeps.

use super::S3Bucket;
use super::attempts::Answer;
use super::body::md5;
use super::call::Call;
use super::upload::Upload;
use crate::{Error, Result, Verb};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::Ordering;

/// The length of a key, in bytes: AES-256.
const KEY_BYTES: usize = 32;
/// More than any file with a key has, in bytes.
const FILE_BYTES_MAX: u64 = 256;
/// Who neither owns the file nor is of its group.
const OTHERS: u32 = 0o007;
/// What Amazon and `MinIO` say of a key that comes without TLS, in an error whose code they have for much else.
const WITHOUT_TLS: &str = "must be made over a secure connection";

/// What servers that know such keys say, in these words or others, of one whose MD5 is that of something else. Of other refusals one can't
/// tell why they were made.
const OTHER_MD5: &str = "md5";

/// In the answer to what was encrypted with the customer's key, or is read with it.
pub(super) const ALGORITHM: &str = "x-amz-server-side-encryption-customer-algorithm";

/// The three headers that say a key: of the object that a request is about, or of the one that it copies from.
const OBJECT: [&str; 3] =
    [ALGORITHM, "x-amz-server-side-encryption-customer-key", "x-amz-server-side-encryption-customer-key-md5"];
const SOURCE: [&str; 3] = [
    "x-amz-copy-source-server-side-encryption-customer-algorithm",
    "x-amz-copy-source-server-side-encryption-customer-key",
    "x-amz-copy-source-server-side-encryption-customer-key-md5",
];

/// A key that the server is told with each request and does not keep: who loses it has lost the objects. It is in no
/// message and no log.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerKey {
    key: HeaderValue,
    md5: HeaderValue,
}

impl CustomerKey {
    /// Reads the key from a file: 32 bytes, or their base64 form on one line.
    ///
    /// # Errors
    /// [`Error::BadOption`], naming the file, for one that can't be read, holds no key, or that every user may read or
    /// replace.
    pub fn read(file: &Path) -> Result<Self> {
        let bad =
            |reason: &str| Error::BadOption(format!("the file {} with the key (SSE-C): {reason}", file.display()));
        let failed = |error: std::io::Error| bad(&error.to_string());
        let mut opened = File::open(file).map_err(failed)?;
        if opened.metadata().map_err(failed)?.permissions().mode() & OTHERS != 0 {
            return Err(bad("every user of this machine may read or change it: chmod o= it"));
        }
        let mut bytes = Vec::new();
        opened.by_ref().take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
        let none = || bad("it must hold 32 bytes, or their base64 form: `openssl rand -base64 32` makes some");
        Self::new(&bytes).ok_or_else(none)
    }

    /// From what a file holds.
    fn new(bytes: &[u8]) -> Option<Self> {
        let decoded = || BASE64_STANDARD.decode(bytes.trim_ascii()).ok();
        let key = if bytes.len() == KEY_BYTES { bytes.to_vec() } else { decoded()? };
        if key.len() != KEY_BYTES {
            return None;
        }
        let secret = |text: &str| {
            let mut value = HeaderValue::from_str(text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        Some(Self { key: secret(&BASE64_STANDARD.encode(&key))?, md5: secret(&md5(&key))? })
    }

    /// One whose MD5 is that of something else.
    fn contradictory() -> Option<Self> {
        Some(Self { md5: HeaderValue::from_str(&md5(b"")).ok()?, ..Self::new(&[0; KEY_BYTES])? })
    }

    /// Says it of the object that a request is about.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        self.insert(OBJECT, headers);
    }

    /// Says it of the object that a request copies from.
    pub(super) fn write_source(&self, headers: &mut HeaderMap) {
        self.insert(SOURCE, headers);
    }

    fn insert(&self, [algorithm, key, md5]: [&'static str; 3], headers: &mut HeaderMap) {
        headers.insert(algorithm, HeaderValue::from_static("AES256"));
        headers.insert(key, self.key.clone());
        headers.insert(md5, self.md5.clone());
    }
}

impl S3Bucket {
    /// Before the first object is written with the customer's key: finds out whether the server knows such keys. One that does not
    /// ignores the headers, and would keep the object in the clear. One that does refuses a key whose MD5 is another's, and says so.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it knows none, or takes them over TLS only; otherwise those of beginning an upload, after which the next
    /// write asks again.
    pub(super) async fn check_customer_key(&self, call: &Call<'_>) -> Result<()> {
        let known = &self.inner.customer_keys_known;
        let Some(key) = call.key.filter(|_| call.keyed.writes && !known.load(Ordering::Relaxed)) else {
            return Ok(());
        };
        let mut trial = Call::object(Verb::Multipart, "begin upload of", Method::POST, key)?.query("uploads", "");
        if let Some(wrong) = CustomerKey::contradictory() {
            wrong.write(&mut trial.headers);
        }
        let begun = |answer: &Answer| Ok(answer.xml("InitiateMultipartUploadResult")?.need("UploadId")?.to_owned());
        match self.inner.run(&trial, begun).await {
            Ok(id) => {
                self.abort_upload(&Upload {
                    key: key.to_owned(),
                    id,
                    tag: None,
                    customer: false,
                    summed: false,
                    begun: None,
                })
                .await?;
                Err(refused(call, "the server ignores the key of its user (SSE-C) and would not encrypt with it"))
            }
            Err(Error::Rejected { detail, .. }) if detail.contains(WITHOUT_TLS) => {
                Err(refused(call, "the server takes a key of its user (SSE-C) over TLS only"))
            }
            Err(Error::Rejected { detail, .. }) if detail.to_ascii_lowercase().contains(OTHER_MD5) => {
                known.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// The error for `call`, which would write with the key. It is logged here: a program that writes a file sees its errno alone.
fn refused(call: &Call<'_>, why: &str) -> Error {
    let op = call.op();
    tracing::warn!(%op, "not written: {why}");
    Error::Unsupported { op, detail: why.to_owned() }
}

impl fmt::Debug for CustomerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomerKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
