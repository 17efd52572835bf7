//! What an object carries beside its bytes.

use s3s::dto::*;

#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    pub(super) content_type: Option<ContentType>,
    pub(super) content_encoding: Option<ContentEncoding>,
    pub(super) content_disposition: Option<ContentDisposition>,
    pub(super) content_language: Option<ContentLanguage>,
    pub(super) cache_control: Option<CacheControl>,
    pub(super) expires: Option<Expires>,
    pub(super) metadata: Option<Metadata>,
    pub(super) storage_class: Option<StorageClass>,
    pub(super) encryption: Option<ServerSideEncryption>,
}

/// Takes it out of a request, leaving nothing there.
macro_rules! take {
    ($input:expr) => {
        Carried {
            content_type: $input.content_type.take(),
            content_encoding: $input.content_encoding.take(),
            content_disposition: $input.content_disposition.take(),
            content_language: $input.content_language.take(),
            cache_control: $input.cache_control.take(),
            expires: $input.expires.take(),
            metadata: $input.metadata.take(),
            storage_class: $input.storage_class.take(),
            encryption: $input.server_side_encryption.take(),
        }
    };
}

/// An answer that has it all, and the fields that follow.
macro_rules! answer {
    ($output:ident, $carried:expr, { $($field:ident: $value:expr),* $(,)? }) => {
        $output {
            content_type: $carried.content_type,
            content_encoding: $carried.content_encoding,
            content_disposition: $carried.content_disposition,
            content_language: $carried.content_language,
            cache_control: $carried.cache_control,
            expires: $carried.expires,
            metadata: $carried.metadata,
            storage_class: $carried.storage_class,
            server_side_encryption: $carried.encryption,
            $($field: $value,)*
            ..Default::default()
        }
    };
}

pub(super) use {answer, take};
