//! Listing, by pages.

use super::bucket::Bucket;
use s3s::S3Result;
use s3s::dto::{CommonPrefix, EncodingType, ListObjectsV2Input, ListObjectsV2Output, Object};

/// A full page of S3.
const PAGE: i32 = 1000;

/// What a listing asks for.
pub(super) struct Entries {
    pub(super) prefix: String,
    pub(super) delimiter: Option<String>,
    /// The last key or common prefix of the page before.
    pub(super) after: String,
    pub(super) max: Option<i32>,
}

/// Some keys, what others have in common, and where the next page begins.
#[derive(Default)]
pub(super) struct Page<'a> {
    pub(super) keys: Vec<&'a String>,
    pub(super) common: Vec<String>,
    pub(super) next: Option<String>,
}

impl Entries {
    pub(super) fn page<'a>(&self, keys: impl Iterator<Item = &'a String>) -> Page<'a> {
        let max = usize::try_from(self.max.unwrap_or(PAGE).clamp(0, PAGE)).unwrap_or(0);
        let mut page = Page::default();
        let mut last = None;
        for key in keys.filter(|key| **key > self.after) {
            let Some(rest) = key.strip_prefix(self.prefix.as_str()) else {
                continue;
            };
            let delimited =
                self.delimiter.as_deref().and_then(|delimiter| Some((rest.split_once(delimiter)?.0, delimiter)));
            let common = delimited.map(|(part, delimiter)| format!("{}{part}{delimiter}", self.prefix));
            // Keys under a common prefix that has been given already, on this page or the one before.
            let given = |common: &String| last.as_ref() == Some(common) || self.after.starts_with(common.as_str());
            if common.as_ref().is_some_and(given) {
                continue;
            }
            if page.keys.len() + page.common.len() == max {
                page.next.clone_from(&last);
                break;
            }
            last = Some(common.clone().unwrap_or_else(|| key.clone()));
            match common {
                Some(common) => page.common.push(common),
                None => page.keys.push(key),
            }
        }
        page
    }
}

/// A key as an answer has it: percent-encoded if that was asked for, and with `+` for a space, as S3 does it.
pub(super) fn encoded(encoding: Option<&EncodingType>, key: &str) -> String {
    match encoding.map(EncodingType::as_str) {
        Some(EncodingType::URL) => {
            url::form_urlencoded::byte_serialize(key.as_bytes()).collect::<String>().replace("%2F", "/")
        }
        _ => key.to_owned(),
    }
}

pub(super) fn common_prefixes(common: &[String], name: impl Fn(&str) -> String) -> Vec<CommonPrefix> {
    common.iter().map(|prefix| CommonPrefix { prefix: Some(name(prefix)) }).collect()
}

pub(super) fn list(bucket: &Bucket, input: ListObjectsV2Input) -> S3Result<ListObjectsV2Output> {
    let name = |text: &str| encoded(input.encoding_type.as_ref(), text);
    let asked = Entries {
        prefix: input.prefix.clone().unwrap_or_default(),
        delimiter: input.delimiter.clone(),
        after: input.continuation_token.clone().or(input.start_after.clone()).unwrap_or_default(),
        max: input.max_keys,
    };
    let page = asked.page(bucket.objects.keys());
    let listed = page.keys.iter().filter_map(|key| Some((*key, bucket.objects.get(*key)?)));
    let contents = listed.map(|(key, object)| Object {
        key: Some(name(key)),
        size: Some(object.bytes.len() as i64),
        e_tag: object.e_tag(),
        last_modified: Some(object.modified.into()),
        storage_class: object.carried.storage_class.as_ref().map(|class| class.as_str().to_owned().into()),
        ..Default::default()
    });
    Ok(ListObjectsV2Output {
        key_count: i32::try_from(page.keys.len() + page.common.len()).ok(),
        contents: Some(contents.collect()),
        common_prefixes: Some(common_prefixes(&page.common, name)),
        is_truncated: Some(page.next.is_some()),
        next_continuation_token: page.next,
        prefix: input.prefix.as_deref().map(name),
        delimiter: input.delimiter.as_deref().map(name),
        encoding_type: input.encoding_type.clone(),
        name: Some(input.bucket),
        max_keys: input.max_keys,
        ..Default::default()
    })
}
