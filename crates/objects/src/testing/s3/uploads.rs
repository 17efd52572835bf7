//! Multipart uploads.

use super::bucket::{Bucket, Object, Upload, check_write, md5};
use super::service::{Promises, Service, body};
use bytes::BytesMut;
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, CompleteMultipartUploadInput, CompleteMultipartUploadOutput,
    CreateMultipartUploadInput, CreateMultipartUploadOutput, ETag, UploadPartInput, UploadPartOutput,
};
use s3s::{S3Result, s3_error};

/// The least length of every part but the last.
const PART_MIN: usize = 5 << 20;

pub(super) fn create(service: &Service, input: CreateMultipartUploadInput) -> S3Result<CreateMultipartUploadOutput> {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let upload = Upload { key: input.key.clone(), metadata: input.metadata, ..Upload::default() };
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
    let promises = Promises {
        length: input.content_length,
        crc64nvme: input.checksum_crc64nvme.clone(),
        sha256: input.checksum_sha256,
    };
    let bytes = body(input.body, promises).await?;
    let tag = md5(&bytes);
    service.with(&input.bucket, |bucket| {
        let upload = find(bucket, &input.upload_id, &input.key)?;
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
    let listed = input.multipart_upload.and_then(|upload| upload.parts).unwrap_or_default();
    let tag = service.with(&input.bucket, |bucket| {
        let upload = find(bucket, &input.upload_id, &input.key)?;
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
        let mut object = Object::new(bytes.freeze(), upload.metadata.clone());
        object.tag = format!("{}-{count}", object.tag);
        check_write(bucket.objects.get(&input.key), input.if_match.as_ref(), input.if_none_match.as_ref())?;
        bucket.uploads.remove(&input.upload_id);
        let tag = object.tag.clone();
        bucket.objects.insert(input.key.clone(), object);
        Ok(tag)
    })?;
    Ok(CompleteMultipartUploadOutput {
        bucket: Some(input.bucket),
        key: Some(input.key),
        e_tag: Some(ETag::Strong(tag)),
        ..Default::default()
    })
}

pub(super) fn abort(service: &Service, input: &AbortMultipartUploadInput) -> S3Result<AbortMultipartUploadOutput> {
    service.with(&input.bucket, |bucket| {
        find(bucket, &input.upload_id, &input.key)?;
        bucket.uploads.remove(&input.upload_id);
        Ok(AbortMultipartUploadOutput::default())
    })
}

fn find<'a>(bucket: &'a mut Bucket, id: &str, key: &str) -> S3Result<&'a mut Upload> {
    let upload = bucket.uploads.get_mut(id).filter(|upload| upload.key == key);
    upload.ok_or_else(|| s3_error!(NoSuchUpload))
}
