mod canned;
mod customer;
mod learning;
mod retries;
mod tls;
mod wire;

use super::S3Bucket;
use crate::connect::aws::Access;
use crate::{ConnectOptions, RetryPolicy};
use canned::Canned;
use object_store::StaticCredentialProvider;
use object_store::aws::AwsCredential;
use std::sync::Arc;
use std::time::Duration;

const SECRET: &str = "s3cret-s3cret-s3cret";

fn options(server: &Canned) -> ConnectOptions {
    ConnectOptions { endpoint: Some(server.endpoint.clone()), retry: quick(), ..ConnectOptions::default() }
}

/// A policy that wastes no time.
fn quick() -> RetryPolicy {
    RetryPolicy {
        delay_min: Duration::from_millis(1),
        delay_max: Duration::from_millis(5),
        mend: Duration::from_millis(20),
        ..RetryPolicy::bounded(Duration::from_secs(20))
    }
}

/// A client of the bucket `bucket` on `server`, with credentials that nobody checks.
fn client(server: &Canned) -> S3Bucket {
    client_with(server, &options(server))
}

fn client_with(server: &Canned, options: &ConnectOptions) -> S3Bucket {
    client_at(&server.endpoint, options)
}

fn client_at(endpoint: &str, options: &ConnectOptions) -> S3Bucket {
    let credential =
        AwsCredential { key_id: "AKIATEST".to_owned(), secret_key: SECRET.to_owned(), token: Some("t0ken".to_owned()) };
    let credentials = (!options.anonymous).then(|| Arc::new(StaticCredentialProvider::new(credential)) as Arc<_>);
    let access = Access { endpoint: Some(endpoint.to_owned()), region: "us-east-1".to_owned(), credentials };
    S3Bucket::with_access("bucket", access, options).unwrap()
}
