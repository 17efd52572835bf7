//! Multipart uploads.

use super::bucket::{Bucket, Object, Upload, check_write, md5};
use super::carried::{Carried, take};
use super::listing::encoded;
use super::sealed::{Sealed, given};
use super::service::{Promises, Service, body};
use bytes::BytesMut;
use s3s::dto::*;
use s3s::{S3Result, s3_error};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// The least length of every part but the last.
const PART_MIN: usize = 5 << 20;

pub(super) fn create(
    service: &Service,
    mut input: CreateMultipartUploadInput,
) -> S3Result<CreateMultipartUploadOutput> {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let carried: Carried = take!(input);
    let tags = input.tagging.as_deref().map(super::tags::of_query).unwrap_or_default();
    let sealed = given!(input)?;
    let (parts, begun) = (BTreeMap::new(), SystemTime::now());
    let upload = Upload { key: input.key.clone(), carried, tags, parts, begun, sealed };
    service.with(&input.bucket, |bucket| {
        bucket.uploads.insert(id.clone(), upload);
        Ok(())
    })?;
    Ok(CreateMultipartUploadOutput {
        bucket: Some(input.bucket),
        key: Some(input.key),
        upload_id: Some(id),
        ..Default::default()
    })
}

pub(super) async fn part(service: &Service, input: UploadPartInput) -> S3Result<UploadPartOutput> {
    let sealed = given!(input)?;
    let promises = Promises {
        length: input.content_length,
        crc64nvme: input.checksum_crc64nvme.clone(),
        sha256: input.checksum_sha256,
    };
    let bytes = body(input.body, promises).await?;
    let tag = md5(&bytes);
    service.with(&input.bucket, |bucket| {
        let upload = find(bucket, &input.upload_id, &input.key)?;
        Sealed::check(upload.sealed.as_ref(), sealed.as_ref())?;
        upload.parts.insert(input.part_number, (tag.clone(), bytes));
        Ok(())
    })?;
    Ok(UploadPartOutput {
        e_tag: Some(ETag::Strong(tag)),
        checksum_crc64nvme: input.checksum_crc64nvme,
        ..Default::default()
    })
}

pub(super) fn complete(
    service: &Service,
    input: CompleteMultipartUploadInput,
) -> S3Result<CompleteMultipartUploadOutput> {
    let sealed = given!(input)?;
    let listed = input.multipart_upload.and_then(|upload| upload.parts).unwrap_or_default();
    let (tag, version_id) = service.with(&input.bucket, |bucket| {
        let upload = find(bucket, &input.upload_id, &input.key)?;
        // Uploads begun with checksums want the key again.
        Sealed::check(upload.sealed.as_ref(), sealed.as_ref())?;
        let mut bytes = BytesMut::new();
        let count = listed.len();
        for (at, part) in listed.iter().enumerate() {
            let stored = part.part_number.and_then(|number| upload.parts.get(&number));
            let Some((tag, data)) = stored.filter(|(tag, _)| part.e_tag.as_ref().map(ETag::value) == Some(tag)) else {
                return Err(s3_error!(InvalidPart));
            };
            if at + 1 < count && data.len() < PART_MIN {
                return Err(s3_error!(EntityTooSmall, "part {tag} is too small"));
            }
            bytes.extend_from_slice(data);
        }
        let mut object =
            Object { tags: upload.tags.clone(), ..Object::new(bytes.freeze(), upload.carried.clone()).sealed(sealed) };
        object.tag = format!("{}-{count}", object.tag);
        check_write(bucket.objects.get(&input.key), input.if_match.as_ref(), input.if_none_match.as_ref())?;
        bucket.uploads.remove(&input.upload_id);
        let tag = object.tag.clone();
        Ok((tag, bucket.put(&input.key, object)))
    })?;
    Ok(CompleteMultipartUploadOutput {
        bucket: Some(input.bucket),
        key: Some(input.key),
        e_tag: Some(ETag::Strong(tag)),
        version_id,
        ..Default::default()
    })
}

/// All uploads on one page.
pub(super) fn list(service: &Service, input: &ListMultipartUploadsInput) -> S3Result<ListMultipartUploadsOutput> {
    let prefix = input.prefix.as_deref().unwrap_or_default();
    service.with(&input.bucket, |bucket| {
        let mut found: Vec<_> = bucket.uploads.iter().filter(|(_, upload)| upload.key.starts_with(prefix)).collect();
        found.sort_by_key(|(id, upload)| (upload.key.clone(), (*id).clone()));
        let listed = found.into_iter().map(|(id, upload)| MultipartUpload {
            key: Some(encoded(input.encoding_type.as_ref(), &upload.key)),
            upload_id: Some(id.clone()),
            initiated: Some(upload.begun.into()),
            ..Default::default()
        });
        Ok(ListMultipartUploadsOutput {
            uploads: Some(listed.collect()),
            is_truncated: Some(false),
            encoding_type: input.encoding_type.clone(),
            ..Default::default()
        })
    })
}

pub(super) fn abort(service: &Service, input: &AbortMultipartUploadInput) -> S3Result<AbortMultipartUploadOutput> {
    service.with(&input.bucket, |bucket| {
        find(bucket, &input.upload_id, &input.key)?;
        bucket.uploads.remove(&input.upload_id);
        Ok(AbortMultipartUploadOutput::default())
    })
}

pub(super) fn find<'a>(bucket: &'a mut Bucket, id: &str, key: &str) -> S3Result<&'a mut Upload> {
    let upload = bucket.uploads.get_mut(id).filter(|upload| upload.key == key);
    upload.ok_or_else(|| s3_error!(NoSuchUpload))
}
