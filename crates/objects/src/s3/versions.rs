//! Versions of objects, page by page.

use super::S3Bucket;
use super::attempts::Answer;
use super::call::Call;
use super::failure::Failure;
use super::list::{Keys, advanced, date};
use super::xml::Element;
use crate::{Result, Verb};
use hyper::Method;
use std::time::SystemTime;

/// One page of versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionPage {
    /// Versions and delete markers, in the order of their keys, and of one key the newest first.
    pub versions: Vec<Version>,
    /// What keys have in common, up to and including the delimiter.
    pub prefixes: Vec<String>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<VersionMark>,
}

/// A place in a listing of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMark {
    /// The last key of the page before.
    pub key: String,
    /// Its last version there; without one the listing goes on after the key.
    pub version: Option<String>,
}

/// One version of an object, or the mark of its deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The object's key, byte for byte.
    pub key: String,
    /// The version: `null` for an object written when the bucket kept none.
    pub id: String,
    /// Whether it is the current one.
    pub latest: bool,
    /// When it was made, by the server's clock.
    pub modified: Option<SystemTime>,
    /// What it is.
    pub kind: VersionKind,
}

/// What a version is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionKind {
    /// An object as it was.
    Object {
        /// Its length in bytes.
        size: u64,
        /// Its tag, exactly as the server gives it.
        etag: Option<String>,
        /// Its storage class, if the server says one.
        storage_class: Option<String>,
    },
    /// The object was deleted then.
    DeleteMarker,
}

impl S3Bucket {
    /// Lists one page of versions and delete markers. A bucket that keeps none lists its objects, as version `null`.
    /// Prefix, delimiter and limit mean what they mean in [`super::List`].
    ///
    /// # Errors
    /// As [`S3Bucket::list`].
    pub async fn list_versions(
        &self,
        prefix: &str,
        delimiter: Option<&str>,
        after: Option<&VersionMark>,
        keys_max: Option<u16>,
    ) -> Result<VersionPage> {
        let call = Call::bucket(Verb::List, "list versions", Method::GET)
            .query("versions", "")
            .query("encoding-type", "url")
            .query("prefix", prefix)
            .query_if("delimiter", delimiter)
            .query_if("key-marker", after.map(|mark| mark.key.as_str()))
            .query_if("version-id-marker", after.and_then(|mark| mark.version.as_deref()))
            .query_if("max-keys", keys_max.map(|keys| keys.to_string()));
        self.inner
            .run(&call, |answer| page(answer).and_then(|page| advanced(after, page.next.as_ref()).map(|()| page)))
            .await
    }
}

fn page(answer: &Answer) -> std::result::Result<VersionPage, Failure> {
    let root = answer.xml("ListVersionsResult")?;
    let keys = Keys::of(&root);
    let entries = root.children().iter().filter(|child| child.is("Version") || child.is("DeleteMarker"));
    let versions = entries.map(|entry| version(&keys, entry)).collect::<std::result::Result<_, _>>()?;
    let versions = in_order(versions);
    let next = match root.parsed("IsTruncated")? {
        true => Some(VersionMark {
            key: keys.need(&root, "NextKeyMarker")?,
            version: root.text_of("NextVersionIdMarker").filter(|id| !id.is_empty()).map(str::to_owned),
        }),
        false => None,
    };
    Ok(VersionPage { versions, prefixes: keys.prefixes(&root)?, next })
}

/// In the order that S3 gives them in, where a server says all versions first and then all delete markers.
fn in_order(mut versions: Vec<Version>) -> Vec<Version> {
    let is_marker = |version: &Version| version.kind == VersionKind::DeleteMarker;
    let apart = versions.iter().skip_while(|version| !is_marker(version)).all(is_marker);
    if apart || !versions.is_sorted_by(|one, other| one.key <= other.key) {
        // Stable: of one time, as they came.
        versions.sort_by(|one, other| {
            let newest_first = || (other.latest, other.modified).cmp(&(one.latest, one.modified));
            one.key.cmp(&other.key).then_with(newest_first)
        });
    }
    versions
}

fn version(keys: &Keys, entry: &Element) -> std::result::Result<Version, Failure> {
    let kind = match entry.is("DeleteMarker") {
        true => VersionKind::DeleteMarker,
        false => VersionKind::Object {
            size: entry.parsed("Size")?,
            etag: entry.text_of("ETag").map(str::to_owned),
            storage_class: entry.text_of("StorageClass").map(str::to_owned),
        },
    };
    Ok(Version {
        key: keys.need(entry, "Key")?,
        id: entry.need("VersionId")?.to_owned(),
        latest: entry.parsed("IsLatest")?,
        modified: entry.text_of("LastModified").and_then(date),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn entry(key: &str, seconds: u64, latest: bool, marker: bool) -> Version {
        let object = VersionKind::Object { size: 1, etag: None, storage_class: None };
        let kind = if marker { VersionKind::DeleteMarker } else { object };
        let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        Version { key: key.to_owned(), id: seconds.to_string(), latest, modified, kind }
    }

    fn ids(versions: Vec<Version>) -> Vec<String> {
        in_order(versions).into_iter().map(|version| format!("{}{}", version.key, version.id)).collect()
    }

    #[test]
    fn delete_markers_in_a_list_of_their_own_come_to_their_keys() {
        let versions = [entry("a", 5, true, false), entry("a", 1, false, false), entry("b", 2, false, false)];
        let markers = [entry("a", 3, false, true), entry("b", 2, true, true)];
        assert_eq!(ids([versions.as_slice(), &markers].concat()), ["a5", "a3", "a1", "b2", "b2"]);
        assert_eq!(in_order([versions.as_slice(), &markers].concat())[3].kind, VersionKind::DeleteMarker);
    }

    #[test]
    fn the_order_of_the_server_stays() {
        // A multipart upload has the time when it was begun.
        let versions = vec![entry("a", 3, true, true), entry("a", 1, false, false), entry("a", 2, false, false)];
        assert_eq!(ids(versions), ["a3", "a1", "a2"]);
    }
}
