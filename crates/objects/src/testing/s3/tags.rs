//! Tags of objects.

use super::service::Service;
use crate::s3::encode::decode;
use s3s::dto::*;
use s3s::{S3Result, s3_error};
use std::collections::BTreeMap;

/// As many tags as an object may have.
const TAGS_MAX: usize = 10;

/// Tags in a header.
pub(super) fn of_query(query: &str) -> BTreeMap<String, String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter_map(|(name, value)| Some((decode(name)?, decode(value)?))).collect()
}

pub(super) fn get(service: &Service, input: &GetObjectTaggingInput) -> S3Result<GetObjectTaggingOutput> {
    service.with(&input.bucket, |bucket| {
        let tags = &bucket.find(&input.key, input.version_id.as_deref())?.tags;
        let tag = |(key, value): (&String, &String)| Tag { key: Some(key.clone()), value: Some(value.clone()) };
        Ok(GetObjectTaggingOutput { tag_set: tags.iter().map(tag).collect(), version_id: None })
    })
}

pub(super) fn put(service: &Service, input: PutObjectTaggingInput) -> S3Result<PutObjectTaggingOutput> {
    if input.tagging.tag_set.len() > TAGS_MAX {
        return Err(s3_error!(InvalidTag, "Object tags cannot be greater than 10"));
    }
    service.with(&input.bucket, |bucket| {
        let object = bucket.objects.get_mut(&input.key).ok_or_else(|| s3_error!(NoSuchKey))?;
        object.tags.clear();
        for Tag { key, value } in input.tagging.tag_set {
            object.tags.insert(key.unwrap_or_default(), value.unwrap_or_default());
        }
        Ok(PutObjectTaggingOutput::default())
    })
}
