//! Objects, and parts of them, copied inside the store.

use super::bucket::{Object, check_read, check_write, md5};
use super::carried::{Carried, take};
use super::sealed::{Sealed, given, given_source};
use super::service::Service;
use super::uploads;
use hyper::HeaderMap;
use hyper::header::{IF_MATCH, IF_NONE_MATCH};
use s3s::dto::*;
use s3s::{S3Result, s3_error};

pub(super) fn object(service: &Service, headers: &HeaderMap, mut input: CopyObjectInput) -> S3Result<CopyObjectOutput> {
    let sealed = given!(input)?;
    let given = given_source!(input)?;
    let source = source(service, &input.copy_source, input.copy_source_if_match.as_ref(), given.as_ref())?;
    let replaced = input.metadata_directive.as_ref().is_some_and(|it| it.as_str() == MetadataDirective::REPLACE);
    let given: Carried = take!(input);
    // How it is stored is never taken from the source.
    let carried = match replaced {
        true => given,
        false => Carried { storage_class: given.storage_class, encryption: given.encryption, ..source.carried },
    };
    let copy = Object { tags: source.tags, ..Object::new(source.bytes, carried).sealed(sealed) };
    let result =
        CopyObjectResult { e_tag: copy.e_tag(), last_modified: Some(copy.modified.into()), ..Default::default() };
    let version_id = service.with(&input.bucket, |bucket| {
        // Conditions on the target, which the library does not know yet.
        let condition =
            |name| headers.get(name).and_then(|value| ETagCondition::parse_http_header(value.as_bytes()).ok());
        let (if_match, if_none_match) = (condition(IF_MATCH), condition(IF_NONE_MATCH));
        check_write(bucket.objects.get(&input.key), if_match.as_ref(), if_none_match.as_ref())?;
        Ok(bucket.put(&input.key, copy))
    })?;
    Ok(CopyObjectOutput { copy_object_result: Some(result), version_id, ..Default::default() })
}

pub(super) fn part(service: &Service, input: &UploadPartCopyInput) -> S3Result<UploadPartCopyOutput> {
    let (sealed, given) = (given!(input)?, given_source!(input)?);
    let source = source(service, &input.copy_source, input.copy_source_if_match.as_ref(), given.as_ref())?;
    let bytes = match &input.copy_source_range {
        None => source.bytes,
        Some(range) => {
            // Unlike that of a read, this range must lie in the object.
            let size = source.bytes.len() as u64;
            let outside = || s3_error!(InvalidRange, "The specified range is not valid for the source object");
            match Range::parse(range) {
                Ok(Range::Int { first, last: Some(last) }) if first <= last && last < size => {
                    source.bytes.slice(first as usize..=last as usize)
                }
                _ => return Err(outside()),
            }
        }
    };
    let tag = md5(&bytes);
    service.with(&input.bucket, |bucket| {
        let upload = uploads::find(bucket, &input.upload_id, &input.key)?;
        Sealed::check(upload.sealed.as_ref(), sealed.as_ref())?;
        upload.parts.insert(input.part_number, (tag.clone(), bytes));
        Ok(())
    })?;
    let result = CopyPartResult { e_tag: Some(ETag::Strong(tag)), ..Default::default() };
    Ok(UploadPartCopyOutput { copy_part_result: Some(result), ..Default::default() })
}

fn source(
    service: &Service,
    source: &CopySource,
    if_match: Option<&ETagCondition>,
    given: Option<&Sealed>,
) -> S3Result<Object> {
    let CopySource::Bucket { bucket, key, version_id } = source else {
        return Err(s3_error!(NotImplemented));
    };
    service.with(bucket, |bucket| {
        let object = bucket.find(key, version_id.as_deref())?;
        Sealed::check(object.sealed.as_ref(), given)?;
        check_read(object, if_match, None)?;
        Ok(object.clone())
    })
}
