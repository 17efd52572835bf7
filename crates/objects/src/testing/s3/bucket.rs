//! What the server keeps.

use super::carried::Carried;
use super::sealed::Sealed;
use super::versions::Version;
use crate::hex;
use bytes::Bytes;
use s3s::crypto::{Checksum, Md5};
use s3s::dto::{ETag, ETagCondition};
use s3s::{S3Result, s3_error};
use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

#[derive(Debug, Default)]
pub(super) struct Bucket {
    pub(super) objects: BTreeMap<String, Object>,
    pub(super) uploads: BTreeMap<String, Upload>,
    /// The versions of each key, the newest first; `None` if the bucket keeps none.
    pub(super) versions: Option<BTreeMap<String, Vec<Version>>>,
    /// Keys that may not be deleted.
    pub(super) protected: BTreeSet<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) bytes: Bytes,
    pub(super) tag: String,
    pub(super) carried: Carried,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) modified: SystemTime,
    /// Which version it is, where the bucket keeps versions.
    pub(super) version: Option<String>,
    /// With which customer's key it is encrypted.
    pub(super) sealed: Option<Sealed>,
}

#[derive(Debug)]
pub(super) struct Upload {
    pub(super) key: String,
    pub(super) carried: Carried,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) parts: BTreeMap<i32, (String, Bytes)>,
    pub(super) begun: SystemTime,
    pub(super) sealed: Option<Sealed>,
}

impl Object {
    pub(super) fn new(bytes: Bytes, carried: Carried) -> Self {
        let tag = md5(&bytes);
        let (tags, modified) = (BTreeMap::new(), SystemTime::now());
        Self { bytes, tag, carried, tags, modified, version: None, sealed: None }
    }

    /// The same, encrypted with a customer's key, if one was given: its tag says nothing then.
    pub(super) fn sealed(self, sealed: Option<Sealed>) -> Self {
        let tag = if sealed.is_some() { sealed_tag() } else { self.tag.clone() };
        Self { sealed, tag, ..self }
    }

    pub(super) fn e_tag(&self) -> Option<ETag> {
        Some(ETag::Strong(self.tag.clone()))
    }
}

/// A tag of the same form as an MD5, that is none.
pub(super) fn sealed_tag() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// The MD5 of `bytes` in hexadecimal, which is what S3 makes tags of.
pub(super) fn md5(bytes: &[u8]) -> String {
    hex(&Md5::checksum(bytes))
}

/// Whether a write may go ahead, as S3 decides it.
pub(super) fn check_write(
    existing: Option<&Object>,
    if_match: Option<&ETagCondition>,
    if_none_match: Option<&ETagCondition>,
) -> S3Result<()> {
    if if_none_match.is_some_and(ETagCondition::is_any) && existing.is_some() {
        return Err(s3_error!(PreconditionFailed, "At least one of the pre-conditions you specified did not hold"));
    }
    match (if_match, existing) {
        (None, _) => Ok(()),
        // Not "precondition failed": so does S3.
        (Some(_), None) => Err(s3_error!(NoSuchKey, "The specified key does not exist.")),
        (Some(condition), Some(object)) if matches(condition, object) => Ok(()),
        (Some(_), Some(_)) => Err(s3_error!(PreconditionFailed)),
    }
}

/// Whether a read may go ahead.
pub(super) fn check_read(
    object: &Object,
    if_match: Option<&ETagCondition>,
    if_none_match: Option<&ETagCondition>,
) -> S3Result<()> {
    if if_match.is_some_and(|condition| !matches(condition, object)) {
        return Err(s3_error!(PreconditionFailed));
    }
    if if_none_match.is_some_and(|condition| matches(condition, object)) {
        return Err(s3_error!(NotModified));
    }
    Ok(())
}

fn matches(condition: &ETagCondition, object: &Object) -> bool {
    condition.is_any() || condition.as_etag().map(ETag::value) == Some(object.tag.as_str())
}
