//! Support for tests: the suite that every provider passes, and an S3 server in this process.

pub mod conformance;
mod s3;

use crate::connect::{aws::Access, client};
use crate::s3::S3Bucket;
use crate::{ConnectOptions, Result};
use object_store::StaticCredentialProvider;
use object_store::aws::AwsCredential;
pub use s3::{S3Fault, S3Faults, S3Server};
use std::sync::Arc;

/// As [`S3Bucket::connect`], with keys that are given instead of found.
///
/// # Errors
/// When an option can't be used.
pub fn s3_bucket(
    bucket: &str,
    options: &ConnectOptions,
    access_key: &str,
    secret_key: &str,
    token: Option<&str>,
) -> Result<S3Bucket> {
    let credential = AwsCredential {
        key_id: access_key.to_owned(),
        secret_key: secret_key.to_owned(),
        token: token.map(str::to_owned),
    };
    let access = Access {
        endpoint: options.endpoint.as_deref().map(client::endpoint).transpose()?,
        region: options.region.clone().unwrap_or_else(|| "us-east-1".to_owned()),
        credentials: Some(Arc::new(StaticCredentialProvider::new(credential))),
    };
    S3Bucket::with_access(bucket, access, options)
}
