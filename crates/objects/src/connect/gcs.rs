//! Google Cloud Storage.

use super::{ConnectOptions, client};
use crate::Result;
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder};

pub(super) fn connect(bucket: &str, options: &ConnectOptions) -> Result<GoogleCloudStorage> {
    let endpoint = options.endpoint.as_deref().map(client::endpoint).transpose()?;
    let mut builder = GoogleCloudStorageBuilder::from_env()
        .with_bucket_name(bucket)
        .with_retry(client::no_retries())
        .with_client_options(client::client_options(options, endpoint.as_deref())?);
    if let Some(endpoint) = &endpoint {
        builder = builder.with_base_url(endpoint);
    }
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    builder.build().map_err(|error| client::refused("Google Cloud Storage", &error))
}
