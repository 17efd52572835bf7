//! Azure Blob Storage.

use super::{ConnectOptions, client};
use crate::Result;
use object_store::azure::{MicrosoftAzure, MicrosoftAzureBuilder};

pub(super) fn connect(container: &str, options: &ConnectOptions) -> Result<MicrosoftAzure> {
    let endpoint = options.endpoint.as_deref().map(client::endpoint).transpose()?;
    let mut builder = MicrosoftAzureBuilder::from_env()
        .with_container_name(container)
        .with_retry(client::no_retries())
        .with_client_options(client::client_options(options, endpoint.as_deref())?);
    if let Some(endpoint) = endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    builder.build().map_err(|error| client::refused("Azure Blob Storage", &error))
}
