//! One object copied to another key inside the store.

use crate::Bucket;
use futures::{StreamExt, stream};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use stoa_objects::s3::{Condition, Headers, Part, Source, Upload, Written};
use stoa_objects::{Error, Result};

/// The shortest part of an object that is not its last, in bytes.
const PART_BYTES_MIN: u64 = 5 << 20;

/// An object has so many parts at most.
const PARTS_MAX: u64 = 10_000;

/// So many parts of one object are copied at once.
const PARTS_AT_ONCE: usize = 16;

/// What is copied, and where to.
#[derive(Debug)]
pub(super) struct Copy<'c> {
    /// Its key and the tag that it must have.
    pub(super) source: Source,
    /// Its length, in bytes.
    pub(super) size: u64,
    /// What the copy carries.
    pub(super) headers: Headers,
    pub(super) key: &'c str,
    pub(super) condition: Condition,
    /// What the copy is known by.
    pub(super) mark: &'c str,
}

impl Bucket {
    /// Copies an object of any length, with its tags, in one request or, above what one request copies, in many.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::NotFound`] when the source or the target is not as it should be; nothing is left of it then.
    pub(super) async fn copy_object(&self, copy: &Copy<'_>) -> Result<Written> {
        if copy.size <= self.copy_bytes_max {
            return match self.copy_at_once(copy).await {
                // versitygw copies no markers. There is nothing in one but what it carries.
                Err(Error::Rejected { .. }) if copy.size == 0 && copy.key.ends_with('/') => {
                    let none = bytes::Bytes::new();
                    self.s3.put_marked(copy.key, none.into(), &copy.headers, &copy.condition, copy.mark).await
                }
                copied => copied,
            };
        }
        // Parts do not bring them along.
        let tags = self.tags(&copy.source.key).await?;
        let upload = self.s3.create_upload_marked(copy.key, &copy.headers, &tags, copy.mark).await?;
        let written = match self.copy_parts(&upload, copy).await {
            Ok(parts) => self.s3.complete_upload(&upload, &parts, &copy.condition).await,
            Err(error) => Err(error),
        };
        if written.is_err()
            && let Err(error) = self.s3.abort_upload(&upload).await
        {
            let key = copy.key;
            tracing::warn!(%error, key, "an unfinished upload stays until the bucket's rules remove it");
        }
        written
    }

    async fn copy_at_once(&self, copy: &Copy<'_>) -> Result<Written> {
        self.s3.copy_marked(&copy.source, copy.key, &copy.headers, &copy.condition, copy.mark).await
    }

    /// The tags of an object; none from a server that has no tags.
    async fn tags(&self, key: &str) -> Result<BTreeMap<String, String>> {
        match self.s3.get_tags(key).await {
            Err(Error::Unsupported { .. }) => Ok(BTreeMap::new()),
            tags => tags,
        }
    }

    async fn copy_parts(&self, upload: &Upload, copy: &Copy<'_>) -> Result<Vec<Part>> {
        let failed = AtomicBool::new(false);
        let parts = (1..).zip(ranges(copy.size, self.copy_bytes_max)).map(async |(number, range)| {
            // Those that are under way are waited for: one that arrives after the end would stay.
            if failed.load(Ordering::Relaxed) {
                return None;
            }
            let part = self.s3.upload_part_copy(upload, number, &copy.source, Some(range)).await;
            failed.fetch_or(part.is_err(), Ordering::Relaxed);
            Some(part)
        });
        let copied: Vec<_> = stream::iter(parts).buffered(PARTS_AT_ONCE).collect().await;
        copied.into_iter().flatten().collect()
    }
}

/// The parts of `size` bytes: more than one at once makes it faster, so they are shorter than the longest that can be copied.
fn ranges(size: u64, bytes_max: u64) -> impl Iterator<Item = Range<u64>> {
    let wanted = (bytes_max / 10).max(PART_BYTES_MIN).max(size.div_ceil(PARTS_MAX));
    // All of nearly the same length, so that none is too short.
    let count = (size / wanted).max(1);
    let at = move |number: u64| size / count * number + (size % count) * number / count;
    (0..count).map(move |number| at(number)..at(number + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_within_what_a_server_takes() {
        for size in [5 << 30, (5 << 30) + 1, 100 << 30, 5 << 40] {
            let ranges: Vec<_> = ranges(size, 5 << 30).collect();
            assert!(ranges.len() <= 10_000, "{size}: {} parts", ranges.len());
            assert!(ranges.iter().all(|it| (PART_BYTES_MIN..=5 << 30).contains(&(it.end - it.start))), "{size}");
            assert_eq!((ranges.first().unwrap().start, ranges.last().unwrap().end), (0, size));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{size}");
        }
    }
}
