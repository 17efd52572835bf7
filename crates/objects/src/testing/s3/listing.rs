//! Listing, by pages.

use super::bucket::Bucket;
use s3s::S3Result;
use s3s::dto::{CommonPrefix, ETag, ListObjectsV2Input, ListObjectsV2Output, Object};
use std::ops::Bound;

/// A full page of S3.
const PAGE: i32 = 1000;

pub(super) fn list(bucket: &Bucket, input: ListObjectsV2Input) -> S3Result<ListObjectsV2Output> {
    let prefix = input.prefix.clone().unwrap_or_default();
    let max = usize::try_from(input.max_keys.unwrap_or(PAGE).clamp(0, PAGE)).unwrap_or(0);
    // The token is the last key or common prefix of the page before.
    let after = input.continuation_token.clone().or(input.start_after.clone()).unwrap_or_default();
    let mut page = Page::default();
    let mut last = None;
    for (key, object) in bucket.objects.range::<str, _>((Bound::Excluded(after.as_str()), Bound::Unbounded)) {
        let Some(rest) = key.strip_prefix(prefix.as_str()) else {
            continue;
        };
        let delimited =
            input.delimiter.as_deref().and_then(|delimiter| rest.split_once(delimiter).map(|it| (it.0, delimiter)));
        let common = delimited.map(|(part, delimiter)| format!("{prefix}{part}{delimiter}"));
        // Keys under a common prefix that has been given already, on this page or the one before.
        if common.as_ref().is_some_and(|common| last.as_ref() == Some(common) || after.starts_with(common.as_str())) {
            continue;
        }
        if page.count() == max {
            page.next = last.clone();
            break;
        }
        last = Some(common.clone().unwrap_or_else(|| key.clone()));
        match common {
            Some(common) => page.common.push(CommonPrefix { prefix: Some(common) }),
            None => page.objects.push(Object {
                key: Some(key.clone()),
                size: Some(object.bytes.len() as i64),
                e_tag: Some(ETag::Strong(object.tag.clone())),
                last_modified: Some(object.modified.into()),
                ..Default::default()
            }),
        }
    }
    Ok(ListObjectsV2Output {
        key_count: i32::try_from(page.count()).ok(),
        is_truncated: Some(page.next.is_some()),
        next_continuation_token: page.next,
        contents: Some(page.objects),
        common_prefixes: Some(page.common),
        name: Some(input.bucket),
        prefix: input.prefix,
        delimiter: input.delimiter,
        max_keys: input.max_keys,
        ..Default::default()
    })
}

#[derive(Default)]
struct Page {
    objects: Vec<Object>,
    common: Vec<CommonPrefix>,
    next: Option<String>,
}

impl Page {
    fn count(&self) -> usize {
        self.objects.len() + self.common.len()
    }
}
