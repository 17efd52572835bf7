//! SSE-C: requests and objects with the key of a customer. Nothing is encrypted; the rules are those of S3.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use s3s::crypto::{Checksum, Md5};
use s3s::{S3Result, s3_error};

/// A key that a request has given, by its MD5 in base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sealed(String);

impl Sealed {
    pub(super) const ALGORITHM: &str = "AES256";

    /// What the three headers of a request say.
    pub(super) fn of(algorithm: Option<&str>, key: Option<&str>, md5: Option<&str>) -> S3Result<Option<Self>> {
        match (algorithm, key, md5) {
            (None, None, None) => Ok(None),
            (Some(Self::ALGORITHM), Some(key), Some(md5)) => {
                let key = BASE64_STANDARD.decode(key).ok().filter(|key| key.len() == 32);
                let key = key.ok_or_else(|| s3_error!(InvalidArgument, "The secret key was invalid"))?;
                match BASE64_STANDARD.encode(Md5::checksum(&key)) == md5 {
                    true => Ok(Some(Self(md5.to_owned()))),
                    false => Err(s3_error!(InvalidArgument, "The calculated MD5 hash of the key did not match")),
                }
            }
            _ => Err(s3_error!(InvalidArgument, "Not all of a customer's key was given")),
        }
    }

    /// Whether what is encrypted so can be used by a request that gives this.
    pub(super) fn check(encrypted: Option<&Self>, given: Option<&Self>) -> S3Result<()> {
        match (encrypted, given) {
            (None, None) => Ok(()),
            (Some(key), Some(given)) if key == given => Ok(()),
            (Some(_), Some(_)) => Err(s3_error!(AccessDenied, "Access Denied")),
            (Some(_), None) => Err(s3_error!(InvalidRequest, "The object was stored using another form of encryption")),
            (None, Some(_)) => Err(s3_error!(InvalidRequest, "The encryption parameters are not applicable")),
        }
    }
}

/// The key that a request gives for its object.
macro_rules! given {
    ($input:expr) => {
        Sealed::of(
            $input.sse_customer_algorithm.as_deref(),
            $input.sse_customer_key.as_deref(),
            $input.sse_customer_key_md5.as_deref(),
        )
    };
}

/// The key that a request gives for the object that it copies from.
macro_rules! given_source {
    ($input:expr) => {
        Sealed::of(
            $input.copy_source_sse_customer_algorithm.as_deref(),
            $input.copy_source_sse_customer_key.as_deref(),
            $input.copy_source_sse_customer_key_md5.as_deref(),
        )
    };
}

pub(super) use {given, given_source};
