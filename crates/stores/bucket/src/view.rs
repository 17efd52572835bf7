//! The objects of a bucket as they are now, or as they were at a time.
//!
//! At a time, an object is the newest of its versions that is not younger, if that is no delete marker. That does not change any
//! more, so which version it is is asked once, and kept for as long as there is room.

use crate::past::{Deciding, version_at};
use futures::{StreamExt, TryStreamExt, stream};
use quick_cache::sync::Cache;
use std::ops::Deref;
use std::sync::Arc;
use std::time::SystemTime;
use stoa_objects::s3::{List, Listed, Object, ObjectInfo, Page, Read, S3Bucket, VersionMark};
use stoa_objects::{Error, Result};

/// Of so many objects it is kept which version they are: some 20 MiB.
const IDS_MAX: usize = 100_000;
/// So many directories are looked into at once.
const LOOKS_MAX: usize = 32;

/// Lists and reads like the client that it wraps; all else goes to that as it is.
#[derive(Debug, Clone)]
pub(crate) struct View {
    s3: S3Bucket,
    at: Option<At>,
}

#[derive(Debug, Clone)]
struct At {
    time: SystemTime,
    /// Versions by key.
    ids: Arc<Cache<String, Arc<str>>>,
}

impl Deref for View {
    type Target = S3Bucket;

    fn deref(&self) -> &S3Bucket {
        &self.s3
    }
}

impl View {
    /// The objects as they were at a time, or as they are.
    pub(crate) fn new(s3: S3Bucket, at: Option<SystemTime>) -> Self {
        let at = at.map(|time| At { time, ids: Arc::new(Cache::new(IDS_MAX)) });
        Self { s3, at }
    }

    /// As [`S3Bucket::list`]. A page may be empty and not the last.
    pub(crate) async fn list(&self, list: &List) -> Result<Page> {
        let Some(at) = &self.at else { return self.s3.list(list).await };
        let (after, settled) = match (&list.continuation, &list.start_after) {
            (Some(token), _) => read_token(token)?,
            (None, Some(key)) => (Some(VersionMark { key: key.clone(), version: None }), None),
            (None, None) => (None, None),
        };
        let page =
            self.s3.list_versions(&list.prefix, list.delimiter.as_deref(), after.as_ref(), list.keys_max).await?;
        let mut deciding = Deciding::new(at.time, settled);
        let objects = page.versions.into_iter().filter_map(|version| {
            let (listed, id) = deciding.object(version)?;
            at.ids.insert(listed.key.clone(), id.into());
            Some(listed)
        });
        let objects = objects.collect();
        let next = page.next.map(|mark| token(&mark, deciding.settled()));
        // Of what is below a prefix, all may have been made later, or have been deleted then.
        let was_there = page.prefixes.into_iter().map(async |prefix| {
            let first = self.first(&prefix, at.time).await?;
            Ok::<_, Error>(first.is_some().then_some(prefix))
        });
        let prefixes = stream::iter(was_there).buffered(LOOKS_MAX).try_filter_map(async |prefix| Ok(prefix));
        Ok(Page { objects, prefixes: prefixes.try_collect().await?, next })
    }

    /// As [`S3Bucket::head`].
    pub(crate) async fn head(&self, key: &str, version: Option<&str>) -> Result<ObjectInfo> {
        match self.version(key).await? {
            Some(id) => self.s3.head(key, Some(&id)).await,
            None => self.s3.head(key, version).await,
        }
    }

    /// As [`S3Bucket::get`].
    pub(crate) async fn get(&self, key: &str, read: &Read) -> Result<Object> {
        match self.version(key).await? {
            Some(id) => self.s3.get(key, &Read { version: Some(id.to_string()), ..read.clone() }).await,
            None => self.s3.get(key, read).await,
        }
    }

    /// Which version an object is, at a time.
    async fn version(&self, key: &str) -> Result<Option<Arc<str>>> {
        let Some(at) = &self.at else { return Ok(None) };
        if let Some(id) = at.ids.get(key) {
            return Ok(Some(id));
        }
        let found = version_at(&self.s3, key, at.time).await?;
        let id: Arc<str> = found.ok_or_else(|| Error::NotFound { op: format!("get {key:?}") })?.into();
        at.ids.insert(key.to_owned(), Arc::clone(&id));
        Ok(Some(id))
    }

    /// The first object below `prefix`.
    async fn first(&self, prefix: &str, time: SystemTime) -> Result<Option<Listed>> {
        let mut deciding = Deciding::new(time, None);
        let mut after = None;
        loop {
            let page = self.s3.list_versions(prefix, None, after.as_ref(), None).await?;
            if let Some((first, _)) = page.versions.into_iter().find_map(|version| deciding.object(version)) {
                return Ok(Some(first));
            }
            after = page.next;
            if after.is_none() {
                return Ok(None);
            }
        }
    }
}

/// Where a listing goes on, as one text: the lengths of two keys, and then these and the version.
fn token(VersionMark { key, version }: &VersionMark, settled: Option<&str>) -> String {
    let settled = settled.unwrap_or_default();
    let version = version.as_deref().unwrap_or_default();
    format!("{} {} {key}{settled}{version}", key.len(), settled.len())
}

fn read_token(token: &str) -> Result<(Option<VersionMark>, Option<String>)> {
    let parse = || {
        let (key_len, rest) = token.split_once(' ')?;
        let (settled_len, rest) = rest.split_once(' ')?;
        let (key, rest) = rest.split_at_checked(key_len.parse().ok()?)?;
        let (settled, version) = rest.split_at_checked(settled_len.parse().ok()?)?;
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Some((Some(VersionMark { key: key.to_owned(), version: some(version) }), some(settled)))
    };
    parse()
        .ok_or_else(|| Error::Rejected { op: "list".to_owned(), detail: format!("no place in a listing: {token:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back() {
        for (key, version, settled) in [("a b/ü", Some("id 1"), Some("a b/ü")), ("7 7", None, None)] {
            let mark = VersionMark { key: key.to_owned(), version: version.map(str::to_owned) };
            let (found, decided) = read_token(&token(&mark, settled)).unwrap();
            assert_eq!((found, decided.as_deref()), (Some(mark), settled));
        }
        assert!(read_token("9 9 short").is_err());
    }
}
