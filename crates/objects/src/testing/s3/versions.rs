//! Versions: kept, found, listed.

use super::bucket::{Bucket, Object};
use super::listing::{Entries, common_prefixes, encoded};
use hyper::HeaderMap;
use hyper::header::HeaderValue;
use s3s::dto::*;
use s3s::{S3Error, S3Result, s3_error};
use std::time::SystemTime;

/// A version of an object, or the mark of its deletion.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) id: String,
    pub(super) modified: SystemTime,
    pub(super) object: Option<Object>,
}

fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

impl Bucket {
    /// Puts an object in the place of what is there; its version, if there are any.
    pub(super) fn put(&mut self, key: &str, mut object: Object) -> Option<String> {
        if let Some(versions) = &mut self.versions {
            let id = new_id();
            object.version = Some(id.clone());
            let version = Version { id, modified: object.modified, object: Some(object.clone()) };
            versions.entry(key.to_owned()).or_default().insert(0, version);
        }
        let id = object.version.clone();
        self.objects.insert(key.to_owned(), object);
        id
    }

    /// Deletes an object, or marks it as deleted; the version of the mark.
    pub(super) fn remove(&mut self, key: &str) -> S3Result<Option<String>> {
        if self.protected.contains(key) {
            return Err(s3_error!(AccessDenied, "Access Denied"));
        }
        self.objects.remove(key);
        let Some(versions) = &mut self.versions else {
            return Ok(None);
        };
        let version = Version { id: new_id(), modified: SystemTime::now(), object: None };
        let id = version.id.clone();
        versions.entry(key.to_owned()).or_default().insert(0, version);
        Ok(Some(id))
    }

    /// Deletes one version for good. The newest that is left becomes the current one.
    pub(super) fn remove_version(&mut self, key: &str, id: &str) {
        let Some(versions) = &mut self.versions else {
            return;
        };
        let kept = versions.entry(key.to_owned()).or_default();
        kept.retain(|version| version.id != id);
        match kept.first().and_then(|version| version.object.clone()) {
            Some(object) => self.objects.insert(key.to_owned(), object),
            None => self.objects.remove(key),
        };
        if kept.is_empty() {
            versions.remove(key);
        }
    }

    /// The current object, or one version of it.
    pub(super) fn find(&self, key: &str, version: Option<&str>) -> S3Result<&Object> {
        let Some(id) = version else {
            return self.objects.get(key).ok_or_else(|| s3_error!(NoSuchKey, "The specified key does not exist."));
        };
        let mut kept = self.versions.iter().filter_map(|versions| versions.get(key)).flatten();
        match kept.find(|version| version.id == id) {
            Some(Version { object: Some(object), .. }) => Ok(object),
            Some(_) => Err(marked()),
            None => Err(s3_error!(NoSuchVersion, "The specified version does not exist.")),
        }
    }
}

/// The answer to who would read a delete marker, with the header that says so.
fn marked() -> S3Error {
    let mut error = s3_error!(MethodNotAllowed, "The specified method is not allowed against this resource.");
    let mut headers = HeaderMap::new();
    headers.insert("x-amz-delete-marker", HeaderValue::from_static("true"));
    error.set_headers(headers);
    error
}

pub(super) fn list(bucket: &Bucket, input: ListObjectVersionsInput) -> S3Result<ListObjectVersionsOutput> {
    let none = || s3_error!(NotImplemented, "this bucket keeps no versions");
    let versions = bucket.versions.as_ref().ok_or_else(none)?;
    let name = |text: &str| encoded(input.encoding_type.as_ref(), text);
    let asked = Entries {
        prefix: input.prefix.clone().unwrap_or_default(),
        delimiter: input.delimiter.clone(),
        after: input.key_marker.clone().unwrap_or_default(),
        max: input.max_keys,
    };
    // The unit of a page is a key with all of its versions, so that no mark lies inside of one.
    let page = asked.page(versions.keys());
    let (mut listed, mut markers) = (Vec::new(), Vec::new());
    for key in &page.keys {
        for (n, version) in versions.get(*key).into_iter().flatten().enumerate() {
            let (id, is_latest) = (Some(version.id.clone()), Some(n == 0));
            let (key, last_modified) = (Some(name(key)), Some(version.modified.into()));
            match &version.object {
                Some(object) => listed.push(ObjectVersion {
                    e_tag: object.e_tag(),
                    size: Some(object.bytes.len() as i64),
                    version_id: id,
                    is_latest,
                    key,
                    last_modified,
                    ..Default::default()
                }),
                None => {
                    markers.push(DeleteMarkerEntry { version_id: id, is_latest, key, last_modified, owner: None });
                }
            }
        }
    }
    Ok(ListObjectVersionsOutput {
        is_truncated: Some(page.next.is_some()),
        next_key_marker: page.next.as_deref().map(name),
        versions: Some(listed),
        delete_markers: Some(markers),
        common_prefixes: Some(common_prefixes(&page.common, name)),
        encoding_type: input.encoding_type.clone(),
        ..Default::default()
    })
}
