//! Getting back what was deleted or replaced.

use crate::What;
use crate::parts::Parts;
use futures::TryStreamExt;
use std::sync::Arc;
use std::time::SystemTime;
use stoa_objects::Result;
use stoa_objects::s3::limits::COPY_BYTES_MAX;
use stoa_objects::s3::{Condition, CopyHeaders, ObjectInfo, S3Bucket, Source, Version, VersionKind};

/// What is to be restored of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restore {
    /// The key.
    pub key: String,
    /// The version that is to be the current one.
    pub version: String,
    /// Its length in bytes.
    pub size: u64,
    /// What is done.
    pub how: Restored,
}

/// How an object comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// The delete markers over it are removed: these versions, the newest first.
    Uncovered(Vec<String>),
    /// It is copied over what is there, which stays as a version: an object with this tag, or a delete marker.
    Copied(Option<String>),
}

/// The versions of one key, as far as they matter.
#[derive(Debug)]
struct Key {
    key: String,
    /// The tag of the current version; none if that is a delete marker.
    current: Option<String>,
    /// Delete markers over all versions with data.
    markers: Vec<String>,
    /// Whether a version with data is younger than what is wanted.
    replaced: bool,
    /// Whether what is wanted is known, and if it is data, which.
    wanted: Option<Option<(String, u64)>>,
}

impl Restore {
    /// What is to be done so that the objects of `what` are again what they were at `time`; or, without one, so that those that are
    /// deleted are there again. Calls `each` for every one, and for every key that was not there at `time` and is now, with `None`:
    /// nothing is done about those.
    ///
    /// # Errors
    /// Of the listing, and of `each`.
    pub async fn plan(
        s3: &S3Bucket,
        what: &What,
        time: Option<SystemTime>,
        mut each: impl AsyncFnMut(&str, Option<Self>) -> Result<()>,
    ) -> Result<()> {
        let mut found = std::pin::pin!(what.versions(s3));
        let mut last: Option<Key> = None;
        while let Some(version) = found.try_next().await? {
            if let Some(key) = last.take_if(|key| key.key != version.key) {
                key.end(time, &mut each).await?;
            }
            last.get_or_insert_with(|| Key::new(&version)).see(version, time);
        }
        match last {
            Some(key) => key.end(time, &mut each).await,
            None => Ok(()),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// [`stoa_objects::Error::Conflict`] if somebody has written to the key since.
    pub async fn run(&self, s3: &S3Bucket) -> Result<()> {
        match &self.how {
            Restored::Uncovered(markers) => {
                for marker in markers {
                    s3.delete(&self.key, None, Some(marker)).await?;
                }
                Ok(())
            }
            Restored::Copied(current) => {
                let info = s3.head(&self.key, Some(&self.version)).await?;
                let condition = current.clone().map_or(Condition::IfAbsent, Condition::IfMatch);
                let if_match = info.etag.clone();
                let source = Source { key: self.key.clone(), version: Some(self.version.clone()), if_match };
                match self.size {
                    ..=COPY_BYTES_MAX => {
                        let keep = CopyHeaders::Keep(info.headers.storage);
                        s3.copy(&source, &self.key, &keep, &condition).await.map(drop)
                    }
                    _ => self.copy_parts(s3, &source, &info, &condition).await,
                }
            }
        }
    }

    async fn copy_parts(&self, s3: &S3Bucket, source: &Source, info: &ObjectInfo, condition: &Condition) -> Result<()> {
        let parts = Parts::begin_copies(s3, &self.key, &info.headers, &Arc::default()).await?;
        parts.copy_all(source, self.size, COPY_BYTES_MAX, condition).await.map(drop)
    }
}

impl Key {
    fn new(newest: &Version) -> Self {
        let current = match &newest.kind {
            VersionKind::Object { etag, .. } => etag.clone(),
            VersionKind::DeleteMarker => None,
        };
        Self { key: newest.key.clone(), current, markers: Vec::new(), replaced: false, wanted: None }
    }

    /// The next older version.
    fn see(&mut self, version: Version, time: Option<SystemTime>) {
        if self.wanted.is_some() {
            return;
        }
        let in_time = time.is_none_or(|time| super::is_before(&version, time));
        match version.kind {
            VersionKind::Object { size, .. } if in_time => self.wanted = Some(Some((version.id, size))),
            VersionKind::Object { .. } => self.replaced = true,
            // It was deleted then.
            VersionKind::DeleteMarker if in_time && time.is_some() => self.wanted = Some(None),
            VersionKind::DeleteMarker => self.markers.push(version.id),
        }
    }

    async fn end(
        self,
        time: Option<SystemTime>,
        each: &mut impl AsyncFnMut(&str, Option<Restore>) -> Result<()>,
    ) -> Result<()> {
        let exists = !self.markers.is_empty() || self.replaced;
        match self.wanted {
            Some(Some((version, size))) if exists => {
                let how = match self.replaced {
                    true => Restored::Copied(self.current),
                    false => Restored::Uncovered(self.markers),
                };
                let restore = Restore { key: self.key.clone(), version, size, how };
                each(&self.key, Some(restore)).await
            }
            // Without a tag nothing is current: it is deleted now, too.
            Some(None) | None if time.is_some() && self.replaced && self.current.is_some() => {
                each(&self.key, None).await
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
