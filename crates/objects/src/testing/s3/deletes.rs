//! Objects deleted, one by one and many at once.

use super::bucket::check_write;
use super::service::Service;
use s3s::dto::*;
use s3s::{S3Error, S3Result, s3_error};

pub(super) fn one(service: &Service, input: &DeleteObjectInput) -> S3Result<DeleteObjectOutput> {
    service.with(&input.bucket, |bucket| {
        if let Some(id) = &input.version_id {
            bucket.remove_version(&input.key, id);
            return Ok(DeleteObjectOutput { version_id: Some(id.clone()), ..Default::default() });
        }
        check_write(bucket.objects.get(&input.key), input.if_match.as_ref(), None)?;
        let marker = bucket.remove(&input.key)?;
        Ok(DeleteObjectOutput {
            delete_marker: marker.is_some().then_some(true),
            version_id: marker,
            ..Default::default()
        })
    })
}

pub(super) fn many(service: &Service, input: DeleteObjectsInput) -> S3Result<DeleteObjectsOutput> {
    if input.delete.objects.len() > 1000 {
        return Err(s3_error!(MalformedXML, "more than 1000 keys"));
    }
    let (mut deleted, mut errors) = (Vec::new(), Vec::new());
    service.with(&input.bucket, |bucket| {
        for ObjectIdentifier { key, .. } in input.delete.objects {
            match bucket.remove(&key) {
                Ok(_) => deleted.push(DeletedObject { key: Some(key), ..Default::default() }),
                Err(error) => errors.push(failed(key, &error)),
            }
        }
        Ok(())
    })?;
    Ok(DeleteObjectsOutput { deleted: Some(deleted), errors: Some(errors), ..Default::default() })
}

fn failed(key: String, error: &S3Error) -> Error {
    let code = Some(error.code().as_str().to_owned());
    Error { code, key: Some(key), message: error.message().map(str::to_owned), ..Default::default() }
}
