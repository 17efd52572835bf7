//! Signatures, version 4.

use super::failure::Failure;
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign as signature,
};
use aws_sigv4::sign::v4::SigningParams;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use object_store::aws::AwsCredential;
use std::time::SystemTime;

/// What the signature says about the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Payload {
    /// Nothing.
    Unsigned,
    /// Its SHA-256, in hexadecimal.
    Sha256(String),
}

/// Adds to `headers` what makes the request signed. `url` is encoded already, and `headers` has the host.
pub(super) fn sign(
    method: &Method,
    url: &str,
    headers: &mut HeaderMap,
    payload: &Payload,
    region: &str,
    credential: &AwsCredential,
    time: SystemTime,
) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::rejected(format!("the request can't be signed: {error}"));
    let identity =
        Credentials::new(&credential.key_id, &credential.secret_key, credential.token.clone(), None, "stoa").into();
    let params = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("s3")
        .time(time)
        .settings(settings())
        .build()
        .map_err(|error| failed(&error))?
        .into();
    let mut given = Vec::with_capacity(headers.len());
    for (name, value) in &*headers {
        given.push((name.as_str(), value.to_str().map_err(|error| failed(&error))?));
    }
    let body = match payload {
        Payload::Unsigned => SignableBody::UnsignedPayload,
        Payload::Sha256(hash) => SignableBody::Precomputed(hash.clone()),
    };
    let request =
        SignableRequest::new(method.as_str(), url, given.into_iter(), body).map_err(|error| failed(&error))?;
    let (instructions, _) = signature(request, &params).map_err(|error| failed(&error))?.into_parts();
    let (added, _) = instructions.into_parts();
    for header in added {
        let mut value = HeaderValue::from_str(header.value()).map_err(|error| failed(&error))?;
        value.set_sensitive(header.sensitive());
        headers.insert(HeaderName::from_static(header.name()), value);
    }
    Ok(())
}

/// How S3 wants it: the path exactly as it is sent, and the payload's hash in a header.
fn settings() -> SigningSettings {
    let mut settings = SigningSettings::default();
    settings.percent_encoding_mode = PercentEncodingMode::Single;
    settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
    settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    settings
}

#[cfg(test)]
mod tests;
