//! The operations on objects.

use super::Buckets;
use super::bucket::{Bucket, Object, check_read, check_write};
use super::{listing, uploads};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use s3s::auth::SimpleAuth;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum, Crc64Nvme, Sha256};
use s3s::dto::*;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

pub(super) fn build(buckets: Buckets, access_key: &str, secret_key: &str) -> S3Service {
    let mut builder = S3ServiceBuilder::new(Service { buckets });
    builder.set_auth(SimpleAuth::from_single(access_key, secret_key));
    builder.build()
}

pub(super) struct Service {
    buckets: Buckets,
}

impl Service {
    /// Does something with a bucket, with nobody in between.
    pub(super) fn with<T>(&self, bucket: &str, work: impl FnOnce(&mut Bucket) -> S3Result<T>) -> S3Result<T> {
        let mut buckets = self.buckets.lock();
        match buckets.get_mut(bucket) {
            Some(bucket) => work(bucket),
            None => Err(s3_error!(NoSuchBucket, "The specified bucket does not exist")),
        }
    }

    fn find(&self, bucket: &str, key: &str) -> S3Result<Object> {
        self.with(bucket, |bucket| {
            let object = bucket.objects.get(key);
            object.cloned().ok_or_else(|| s3_error!(NoSuchKey, "The specified key does not exist."))
        })
    }
}

/// What a request says about its own body.
pub(super) struct Promises {
    pub(super) length: Option<i64>,
    pub(super) crc64nvme: Option<String>,
    pub(super) sha256: Option<String>,
}

/// Reads a body and checks it against what the request promised.
pub(super) async fn body(body: Option<StreamingBlob>, promises: Promises) -> S3Result<Bytes> {
    let mut bytes = BytesMut::new();
    if let Some(mut body) = body {
        while let Some(chunk) = body.next().await {
            // Also a payload whose signature is wrong ends here.
            bytes.extend_from_slice(&chunk.map_err(|_| s3_error!(IncompleteBody))?);
        }
    }
    if promises.length.is_some_and(|length| u64::try_from(length) != Ok(bytes.len() as u64)) {
        return Err(s3_error!(IncompleteBody));
    }
    let mut hasher = ChecksumHasher {
        crc64nvme: promises.crc64nvme.as_ref().map(|_| Crc64Nvme::new()),
        sha256: promises.sha256.as_ref().map(|_| Sha256::new()),
        ..ChecksumHasher::default()
    };
    hasher.update(&bytes);
    let found = hasher.finalize();
    if found.checksum_crc64nvme != promises.crc64nvme || found.checksum_sha256 != promises.sha256 {
        return Err(s3_error!(BadDigest, "The checksum does not match the body."));
    }
    Ok(bytes.freeze())
}

#[async_trait::async_trait]
impl S3 for Service {
    async fn put_object(&self, req: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        let input = req.input;
        let promises = Promises {
            length: input.content_length,
            crc64nvme: input.checksum_crc64nvme,
            sha256: input.checksum_sha256,
        };
        let bytes = body(input.body, promises).await?;
        let object = Object::new(bytes, input.metadata);
        let e_tag = Some(ETag::Strong(object.tag.clone()));
        self.with(&input.bucket, |bucket| {
            let existing = bucket.objects.get(&input.key);
            check_write(existing, input.if_match.as_ref(), input.if_none_match.as_ref())?;
            bucket.objects.insert(input.key, object);
            Ok(())
        })?;
        Ok(S3Response::new(PutObjectOutput { e_tag, ..Default::default() }))
    }

    async fn get_object(&self, req: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let input = req.input;
        let object = self.find(&input.bucket, &input.key)?;
        check_read(&object, input.if_match.as_ref(), input.if_none_match.as_ref())?;
        let size = object.bytes.len() as u64;
        let (bytes, content_range) = match input.range {
            None => (object.bytes.clone(), None),
            Some(range) => {
                let range = range.check(size)?;
                let text = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
                let (start, end) = (range.start as usize, range.end as usize);
                (object.bytes.slice(start..end), Some(text))
            }
        };
        Ok(S3Response::new(GetObjectOutput {
            content_length: Some(bytes.len() as i64),
            body: Some(StreamingBlob::wrap(futures::stream::iter([Ok::<_, std::io::Error>(bytes)]))),
            content_range,
            e_tag: Some(ETag::Strong(object.tag)),
            last_modified: Some(object.modified.into()),
            metadata: object.metadata,
            ..Default::default()
        }))
    }

    async fn head_object(&self, req: S3Request<HeadObjectInput>) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = req.input;
        let object = self.find(&input.bucket, &input.key)?;
        check_read(&object, input.if_match.as_ref(), input.if_none_match.as_ref())?;
        Ok(S3Response::new(HeadObjectOutput {
            content_length: Some(object.bytes.len() as i64),
            e_tag: Some(ETag::Strong(object.tag)),
            last_modified: Some(object.modified.into()),
            metadata: object.metadata,
            ..Default::default()
        }))
    }

    async fn delete_object(&self, req: S3Request<DeleteObjectInput>) -> S3Result<S3Response<DeleteObjectOutput>> {
        self.with(&req.input.bucket, |bucket| {
            bucket.objects.remove(&req.input.key);
            Ok(())
        })?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    async fn delete_objects(&self, req: S3Request<DeleteObjectsInput>) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let input = req.input;
        if input.delete.objects.len() > 1000 {
            return Err(s3_error!(MalformedXML, "more than 1000 keys"));
        }
        let deleted = self.with(&input.bucket, |bucket| {
            let delete = |object: ObjectIdentifier| {
                bucket.objects.remove(&object.key);
                DeletedObject { key: Some(object.key), ..Default::default() }
            };
            Ok(input.delete.objects.into_iter().map(delete).collect())
        })?;
        Ok(S3Response::new(DeleteObjectsOutput { deleted: Some(deleted), ..Default::default() }))
    }

    async fn copy_object(&self, req: S3Request<CopyObjectInput>) -> S3Result<S3Response<CopyObjectOutput>> {
        let input = req.input;
        let CopySource::Bucket { bucket, key, .. } = &input.copy_source else {
            return Err(s3_error!(NotImplemented));
        };
        let source = self.find(bucket, key)?;
        let copy = Object::new(source.bytes, source.metadata);
        let result = CopyObjectResult {
            e_tag: Some(ETag::Strong(copy.tag.clone())),
            last_modified: Some(copy.modified.into()),
            ..Default::default()
        };
        self.with(&input.bucket, |bucket| {
            bucket.objects.insert(input.key, copy);
            Ok(())
        })?;
        Ok(S3Response::new(CopyObjectOutput { copy_object_result: Some(result), ..Default::default() }))
    }

    async fn list_objects_v2(&self, req: S3Request<ListObjectsV2Input>) -> S3Result<S3Response<ListObjectsV2Output>> {
        let bucket = req.input.bucket.clone();
        self.with(&bucket, |bucket| listing::list(bucket, req.input)).map(S3Response::new)
    }

    async fn create_multipart_upload(
        &self,
        req: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        uploads::create(self, req.input).map(S3Response::new)
    }

    async fn upload_part(&self, req: S3Request<UploadPartInput>) -> S3Result<S3Response<UploadPartOutput>> {
        uploads::part(self, req.input).await.map(S3Response::new)
    }

    async fn complete_multipart_upload(
        &self,
        req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        uploads::complete(self, req.input).map(S3Response::new)
    }

    async fn abort_multipart_upload(
        &self,
        req: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        uploads::abort(self, &req.input).map(S3Response::new)
    }
}
