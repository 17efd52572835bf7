//! One object copied to another key inside the store.

use crate::Bucket;
use crate::parts::Parts;
use std::collections::BTreeMap;
use stoa_objects::s3::{Condition, Headers, Source, Written};
use stoa_objects::{Error, Result};

/// What is copied, and where to.
#[derive(Debug)]
pub(crate) struct Copy<'c> {
    /// Its key and the tag that it must have.
    pub(crate) source: Source,
    /// Its length, in bytes.
    pub(crate) size: u64,
    /// What the copy carries.
    pub(crate) headers: Headers,
    pub(crate) key: &'c str,
    pub(crate) condition: Condition,
    /// What the copy is known by.
    pub(crate) mark: &'c str,
}

impl Bucket {
    /// Copies an object of any length, with its tags, in one request or, above what one request copies, in many.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::NotFound`] when the source or the target is not as it should be; nothing is left of it then.
    pub(crate) async fn copy_object(&self, copy: &Copy<'_>) -> Result<Written> {
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
        let parts = Parts::of(&self.s3, upload, &self.traffic);
        parts.copy_all(&copy.source, copy.size, self.copy_bytes_max, &copy.condition).await
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
}
