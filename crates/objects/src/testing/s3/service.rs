//! The operations on objects.

use super::Buckets;
use super::bucket::{Bucket, Object, check_read, check_write};
use super::carried::{Carried, answer, take};
use super::sealed::{Sealed, given};
use super::{copies, deletes, listing, tags, uploads, versions};
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

    fn find(&self, bucket: &str, key: &str, version: Option<&str>) -> S3Result<Object> {
        self.with(bucket, |bucket| bucket.find(key, version).cloned())
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
        let mut input = req.input;
        let carried: Carried = take!(input);
        let promises = Promises {
            length: input.content_length,
            crc64nvme: input.checksum_crc64nvme,
            sha256: input.checksum_sha256,
        };
        let sealed = given!(input)?;
        let algorithm = sealed.as_ref().map(|_| Sealed::ALGORITHM.to_owned());
        let object = Object::new(body(input.body, promises).await?, carried).sealed(sealed);
        let e_tag = object.e_tag();
        let version_id = self.with(&input.bucket, |bucket| {
            let existing = bucket.objects.get(&input.key);
            check_write(existing, input.if_match.as_ref(), input.if_none_match.as_ref())?;
            Ok(bucket.put(&input.key, object))
        })?;
        Ok(S3Response::new(PutObjectOutput {
            e_tag,
            version_id,
            sse_customer_algorithm: algorithm,
            ..Default::default()
        }))
    }

    async fn get_object(&self, req: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let input = req.input;
        let object = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        Sealed::check(object.sealed.as_ref(), given!(input)?.as_ref())?;
        check_read(&object, input.if_match.as_ref(), input.if_none_match.as_ref())?;
        let size = object.bytes.len() as u64;
        let e_tag = object.e_tag();
        let (bytes, content_range) = match input.range {
            None => (object.bytes, None),
            Some(range) => {
                let range = range.check(size)?;
                let text = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
                let (start, end) = (range.start as usize, range.end as usize);
                (object.bytes.slice(start..end), Some(text))
            }
        };
        Ok(S3Response::new(answer!(GetObjectOutput, object.carried, {
            content_length: Some(bytes.len() as i64),
            body: Some(StreamingBlob::wrap(futures::stream::iter([Ok::<_, std::io::Error>(bytes)]))),
            content_range: content_range,
            e_tag: e_tag,
            last_modified: Some(object.modified.into()),
            version_id: object.version,
            sse_customer_algorithm: object.sealed.map(|_| Sealed::ALGORITHM.to_owned()),
        })))
    }

    async fn head_object(&self, req: S3Request<HeadObjectInput>) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = req.input;
        let object = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        Sealed::check(object.sealed.as_ref(), given!(input)?.as_ref())?;
        check_read(&object, input.if_match.as_ref(), input.if_none_match.as_ref())?;
        let e_tag = object.e_tag();
        Ok(S3Response::new(answer!(HeadObjectOutput, object.carried, {
            content_length: Some(object.bytes.len() as i64),
            e_tag: e_tag,
            last_modified: Some(object.modified.into()),
            version_id: object.version,
            sse_customer_algorithm: object.sealed.map(|_| Sealed::ALGORITHM.to_owned()),
        })))
    }

    async fn get_bucket_versioning(
        &self,
        req: S3Request<GetBucketVersioningInput>,
    ) -> S3Result<S3Response<GetBucketVersioningOutput>> {
        self.with(&req.input.bucket, |bucket| {
            let enabled = || BucketVersioningStatus::from_static(BucketVersioningStatus::ENABLED);
            let status = bucket.versions.as_ref().map(|_| enabled());
            Ok(S3Response::new(GetBucketVersioningOutput { status, ..Default::default() }))
        })
    }

    async fn head_bucket(&self, req: S3Request<HeadBucketInput>) -> S3Result<S3Response<HeadBucketOutput>> {
        self.with(&req.input.bucket, |_| Ok(S3Response::new(HeadBucketOutput::default())))
    }

    async fn delete_object(&self, req: S3Request<DeleteObjectInput>) -> S3Result<S3Response<DeleteObjectOutput>> {
        deletes::one(self, &req.input).map(S3Response::new)
    }

    async fn delete_objects(&self, req: S3Request<DeleteObjectsInput>) -> S3Result<S3Response<DeleteObjectsOutput>> {
        deletes::many(self, req.input).map(S3Response::new)
    }

    async fn copy_object(&self, req: S3Request<CopyObjectInput>) -> S3Result<S3Response<CopyObjectOutput>> {
        copies::object(self, &req.headers, req.input).map(S3Response::new)
    }

    async fn list_objects_v2(&self, req: S3Request<ListObjectsV2Input>) -> S3Result<S3Response<ListObjectsV2Output>> {
        let bucket = req.input.bucket.clone();
        self.with(&bucket, |bucket| listing::list(bucket, req.input)).map(S3Response::new)
    }

    async fn list_object_versions(
        &self,
        req: S3Request<ListObjectVersionsInput>,
    ) -> S3Result<S3Response<ListObjectVersionsOutput>> {
        let bucket = req.input.bucket.clone();
        self.with(&bucket, |bucket| versions::list(bucket, req.input)).map(S3Response::new)
    }

    async fn get_object_tagging(
        &self,
        req: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<S3Response<GetObjectTaggingOutput>> {
        tags::get(self, &req.input).map(S3Response::new)
    }

    async fn put_object_tagging(
        &self,
        req: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<S3Response<PutObjectTaggingOutput>> {
        tags::put(self, req.input).map(S3Response::new)
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

    async fn upload_part_copy(
        &self,
        req: S3Request<UploadPartCopyInput>,
    ) -> S3Result<S3Response<UploadPartCopyOutput>> {
        copies::part(self, &req.input).map(S3Response::new)
    }

    async fn complete_multipart_upload(
        &self,
        req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        uploads::complete(self, req.input).map(S3Response::new)
    }

    async fn list_multipart_uploads(
        &self,
        req: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        uploads::list(self, &req.input).map(S3Response::new)
    }

    async fn abort_multipart_upload(
        &self,
        req: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        uploads::abort(self, &req.input).map(S3Response::new)
    }
}
