//! What a bucket that keeps versions held at a time; and getting back what was deleted.
//!
//! Nothing here deletes a version that holds data. An object that was deleted comes back when the delete markers over it are
//! removed; one that was replaced, when the old version is copied over the new one, which stays.

mod restore;

pub use restore::{Restore, Restored};

use std::time::SystemTime;
use stoa_objects::s3::{Listed, S3Bucket, Version, VersionKind};
use stoa_objects::{Error, Result};

/// Fails if a bucket never kept versions: there is nothing to find in it then.
///
/// # Errors
/// [`Error::Unsupported`]; not that one may not ask.
pub async fn check_versions(s3: &S3Bucket) -> Result<()> {
    match s3.keeps_versions().await {
        Ok(true) | Err(Error::Denied { .. }) => Ok(()),
        Ok(false) => {
            let detail = "the bucket keeps no versions: what is replaced or deleted in it is gone".to_owned();
            Err(Error::Unsupported { op: format!("looking for versions in {:?}", s3.name()), detail })
        }
        Err(error) => Err(error),
    }
}

/// Which version of `key` was the object at a time; `None` if there was none.
pub(crate) async fn version_at(s3: &S3Bucket, key: &str, time: SystemTime) -> Result<Option<String>> {
    let mut after = None;
    loop {
        let page = s3.list_versions(key, None, after.as_ref(), None).await?;
        // Its versions come before those of longer keys.
        let mut own = page.versions.into_iter();
        if let Some(version) = own.find(|version| version.key != key || is_before(version, time)) {
            return Ok((version.key == key).then(|| listed(version)).flatten().map(|(_, id)| id));
        }
        after = page.next;
        if after.is_none() {
            return Ok(None);
        }
    }
}

/// Finds, of versions in their order, those that were current at a time.
#[derive(Debug)]
pub(crate) struct Deciding {
    time: SystemTime,
    /// The last key of which it is known.
    settled: Option<String>,
}

impl Deciding {
    pub(crate) fn new(time: SystemTime, settled: Option<String>) -> Self {
        Self { time, settled }
    }

    /// The object, and its version, if `version` is one that was current.
    pub(crate) fn object(&mut self, version: Version) -> Option<(Listed, String)> {
        if self.settled.as_ref() == Some(&version.key) || !is_before(&version, self.time) {
            return None;
        }
        self.settled = Some(version.key.clone());
        listed(version)
    }

    pub(crate) fn settled(&self) -> Option<&str> {
        self.settled.as_deref()
    }
}

/// Whether a version was there at a time. One without a time is taken for older than all that have one.
fn is_before(version: &Version, time: SystemTime) -> bool {
    version.modified.is_none_or(|modified| modified <= time)
}

fn listed(version: Version) -> Option<(Listed, String)> {
    match version.kind {
        VersionKind::Object { size, etag, storage_class } => {
            Some((Listed { key: version.key, size, etag, modified: version.modified, storage_class }, version.id))
        }
        VersionKind::DeleteMarker => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn version(key: &str, seconds: u64, size: Option<u64>) -> Version {
        let kind = match size {
            Some(size) => VersionKind::Object { size, etag: None, storage_class: None },
            None => VersionKind::DeleteMarker,
        };
        Version { key: key.to_owned(), id: seconds.to_string(), latest: false, modified: Some(at(seconds)), kind }
    }

    #[test]
    fn what_was_current_is_the_newest_that_is_not_younger() {
        let all = [
            version("a", 9, Some(3)),
            version("a", 5, None),
            version("a", 2, Some(1)),
            version("b", 7, None),
            version("b", 4, Some(2)),
        ];
        let then = |time| {
            let mut deciding = Deciding::new(at(time), None);
            let found = all.iter().filter_map(|version| deciding.object(version.clone()));
            found.map(|(listed, id)| format!("{}@{id}", listed.key)).collect::<Vec<_>>()
        };
        assert_eq!(then(1), [""; 0]);
        assert_eq!(then(2), ["a@2"]);
        assert_eq!(then(4), ["a@2", "b@4"]);
        assert_eq!(then(6), ["b@4"]);
        assert_eq!(then(9), ["a@9"]);
        // A page that ends within the versions of a key.
        let mut deciding = Deciding::new(at(9), Some("a".to_owned()));
        assert!(deciding.object(version("a", 2, Some(1))).is_none());
    }
}
