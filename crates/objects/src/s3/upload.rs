//! Multipart uploads: begun, completed, aborted.

use super::S3Bucket;
use super::attempts::{Answer, Attempts};
use super::call::{Call, Keyed};
use super::failure::Failure;
use super::headers::{Condition, Headers};
use super::put::Written;
use super::{encode, xml};
use crate::classify::Class;
use crate::retry::{SLOW, new_tag};
use crate::{Result, Verb};
use hyper::Method;
use std::collections::BTreeMap;
use std::time::SystemTime;

/// A multipart upload under way. It can be kept and taken up again by another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The key of the object that it will make.
    pub key: String,
    /// The server's name for it.
    pub id: String,
    /// What tells its object from every other, in the object's user metadata (`stoaputid`). Uploads that were found
    /// by listing have none here.
    pub tag: Option<String>,
    /// Whether its object is encrypted with the customer's key. Not known of uploads that were found by listing: no parts can be
    /// added to those.
    pub customer: bool,
    /// Whether the server keeps a checksum of its object, made of those of the parts.
    pub summed: bool,
    /// When it was begun, by the server's clock, if it was found by listing.
    pub begun: Option<SystemTime>,
}

/// A part that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 1 to 10,000: parts make up the object in the order of these.
    pub number: u32,
    /// Its tag, exactly as the server gives it.
    pub etag: String,
    /// Its CRC64NVME in base64, if the server gives it. Some servers want it back to complete an upload that was begun
    /// with checksums.
    pub checksum: Option<String>,
}

impl Upload {
    /// What requests for its parts, and to complete it, say of the customer's key.
    pub(super) fn keyed(&self) -> Keyed {
        Keyed { writes: self.customer, reads: None }
    }
}

impl S3Bucket {
    /// Begins an upload whose parts are all sent. The object will carry `headers`.
    ///
    /// Repeated after an answer that was lost, it may leave an upload that nobody completes: buckets are told to drop those.
    ///
    /// # Errors
    /// [`crate::Error::Rejected`] for headers that can't be sent.
    pub async fn create_upload(&self, key: &str, headers: &Headers) -> Result<Upload> {
        self.begin_upload(key, headers, &BTreeMap::new(), &new_tag(), self.inner.checksum).await
    }

    /// As [`S3Bucket::create_upload`], and the server copies some of the parts. It is not asked to keep a checksum then: `MinIO` makes none
    /// of what it copies, and refuses the parts. Amazon makes one by itself.
    ///
    /// # Errors
    /// As [`S3Bucket::create_upload`].
    pub async fn create_upload_of_copies(&self, key: &str, headers: &Headers) -> Result<Upload> {
        self.create_upload_marked(key, headers, &BTreeMap::new(), &new_tag()).await
    }

    /// As [`S3Bucket::create_upload_of_copies`]; the object will have the tags of `labels`, by their names, and it is known by `mark`, as
    /// with [`S3Bucket::copy_marked`].
    ///
    /// # Errors
    /// As [`S3Bucket::create_upload`].
    pub async fn create_upload_marked(
        &self,
        key: &str,
        headers: &Headers,
        labels: &BTreeMap<String, String>,
        mark: &str,
    ) -> Result<Upload> {
        self.begin_upload(key, headers, labels, mark, false).await
    }

    async fn begin_upload(
        &self,
        key: &str,
        headers: &Headers,
        labels: &BTreeMap<String, String>,
        mark: &str,
        summed: bool,
    ) -> Result<Upload> {
        let mut call = Call::object(Verb::Multipart, "begin upload of", Method::POST, key)?.query("uploads", "");
        headers.write(&mut call, Some(mark))?;
        call.header_if("x-amz-tagging", tagging(labels).as_deref())?;
        if summed {
            call.header_if("x-amz-checksum-algorithm", Some("CRC64NVME"))?;
            call.header_if("x-amz-checksum-type", Some("FULL_OBJECT"))?;
        }
        let read = |answer: &Answer| {
            let root = answer.xml("InitiateMultipartUploadResult")?;
            let id = root.need("UploadId")?.to_owned();
            let customer = call.keyed.writes;
            Ok(Upload { key: key.to_owned(), id, tag: Some(mark.to_owned()), customer, summed, begun: None })
        };
        self.check_customer_key(&call).await?;
        self.inner.run(&call, read).await
    }

    /// Makes the object of its parts, which are given in the order of their numbers. It is durable when this returns.
    /// Every part but the last has 5 MiB at least.
    ///
    /// After an answer that was lost, an upload that is gone, a condition that no longer holds, or another write under way, is
    /// looked into: when the object that is there has the upload's tag, it is complete.
    ///
    /// # Errors
    /// [`crate::Error::NoSuchUpload`]; [`crate::Error::Conflict`] when the condition does not hold, or another write of the
    /// key was under way: the upload may be gone then; [`crate::Error::Rejected`] for parts that are not there or too small.
    pub async fn complete_upload(&self, upload: &Upload, parts: &[Part], condition: &Condition) -> Result<Written> {
        let inner = &*self.inner;
        let call = Call::object(Verb::Multipart, "complete upload of", Method::POST, &upload.key)?;
        let mut call = Call { keyed: upload.keyed(), ..call }.query("uploadId", upload.id.as_str());
        call.slow = SLOW;
        condition.write(&mut call)?;
        call.xml(document(parts)).await?;
        let mut attempts = Attempts::new(inner, call.name, call.op());
        loop {
            let failure = match inner.answer(&call).await.and_then(|answer| completed(&answer)) {
                Ok(written) => return Ok(attempts.done(written)),
                Err(failure) => failure,
            };
            let refused = !failure.class.passes() && !failure.class.may_be_mended() && failure.class != Class::Corrupt;
            let conflict = failure.is_conflict();
            if conflict && !attempts.effect_unknown() {
                // Unlike a put, it can't be repeated: S3 has it begun anew.
                return Err(attempts.error(failure.of(Class::Precondition)));
            }
            // The server may be at work still on the attempt whose answer was lost: it is that which conflicts then.
            if let Some(tag) = upload.tag.as_ref().filter(|_| (refused || conflict) && attempts.effect_unknown())
                && let Some(info) = inner.own(&upload.key, tag).await?
            {
                tracing::debug!(key = upload.key, "a completion whose answer was lost had taken effect");
                return Ok(attempts.done(Written::found(info)));
            }
            attempts.again(failure).await?;
        }
    }

    /// Gives up an upload, and the space of its parts. One that is gone counts as aborted. Parts on their way may still
    /// arrive, and take space: end them first.
    ///
    /// # Errors
    /// Those of any request.
    pub async fn abort_upload(&self, upload: &Upload) -> Result<()> {
        let inner = &*self.inner;
        let call = Call::object(Verb::Multipart, "abort upload of", Method::DELETE, &upload.key)?;
        let call = call.query("uploadId", upload.id.as_str());
        let mut attempts = Attempts::new(inner, call.name, call.op());
        loop {
            match inner.answer(&call).await.and_then(|answer| answer.no_error()) {
                Ok(()) => return attempts.end(),
                Err(gone) if gone.class == Class::UploadGone => return attempts.end(),
                Err(failure) => attempts.again(failure).await?,
            }
        }
    }

    /// As [`S3Bucket::abort_upload`], for who can do nothing about a failure: it is in the log.
    pub async fn give_up_upload(&self, upload: &Upload) {
        if let Err(error) = self.abort_upload(upload).await {
            let key = &upload.key;
            tracing::warn!(%error, key, "an unfinished upload stays until the bucket's rules remove it");
        }
    }
}

/// Tags as a query, if there are any.
fn tagging(labels: &BTreeMap<String, String>) -> Option<String> {
    let mut text = String::new();
    for (name, value) in labels {
        if !text.is_empty() {
            text.push('&');
        }
        encode::query(name, &mut text);
        text.push('=');
        encode::query(value, &mut text);
    }
    (!text.is_empty()).then_some(text)
}

fn completed(answer: &Answer) -> std::result::Result<Written, Failure> {
    Written::read(answer, Some(answer.xml("CompleteMultipartUploadResult")?.need("ETag")?))
}

fn document(parts: &[Part]) -> String {
    let mut document = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".to_owned();
    for part in parts {
        document.push_str("<Part>");
        xml::write(&mut document, "PartNumber", &part.number.to_string());
        xml::write(&mut document, "ETag", &part.etag);
        if let Some(checksum) = &part.checksum {
            xml::write(&mut document, "ChecksumCRC64NVME", checksum);
        }
        document.push_str("</Part>");
    }
    document.push_str("</CompleteMultipartUpload>");
    document
}
