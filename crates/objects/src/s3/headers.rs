//! What an object carries beside its bytes, and conditions.

use super::call::Call;
use super::customer_key;
use crate::Result;
use crate::retry::TAG;
use hyper::HeaderMap;
use hyper::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use std::collections::BTreeMap;

/// Before the names of user metadata.
const META: &str = "x-amz-meta-";

/// What an object carries beside its bytes. What is `None` is the server's default.
///
/// What a read gives can be handed to a write as it is. What is not in it: tags, access rules, locks, redirects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Content-Encoding`. Bodies are never decoded here.
    pub content_encoding: Option<String>,
    /// `Content-Disposition`.
    pub content_disposition: Option<String>,
    /// `Content-Language`.
    pub content_language: Option<String>,
    /// `Cache-Control`.
    pub cache_control: Option<String>,
    /// `Expires`.
    pub expires: Option<String>,
    /// User metadata, without `x-amz-meta-` before the names. Names are in lower case, and values visible ASCII with no
    /// space at either end: others are refused. S3 takes [`super::limits::METADATA_BYTES_MAX`] in all.
    pub metadata: BTreeMap<String, String>,
    /// How the object is stored.
    pub storage: Storage,
}

/// How an object is stored. A copy takes neither from its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Storage {
    /// `x-amz-storage-class`, as `STANDARD_IA`.
    pub class: Option<String>,
    /// How the server encrypts it.
    pub encryption: Option<Encryption>,
}

/// How the server encrypts an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encryption {
    /// With a key that the server has, or its key service.
    Server {
        /// `x-amz-server-side-encryption`: `AES256`, `aws:kms` or `aws:kms:dsse`.
        algorithm: String,
        /// The key of the key service, if it is not its default one.
        key: Option<String>,
    },
    /// With [`crate::ConnectOptions::customer_key`], which the server forgets (SSE-C).
    Customer,
}

/// What must hold for a write to take place. The server checks it and writes at one moment.
///
/// A server that does not know a condition ignores it, and writes: versitygw does so with those of copies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing: what is there is replaced.
    #[default]
    None,
    /// There is no object with this key.
    IfAbsent,
    /// There is one, and it has this tag, exactly as the server gave it, quotes and all.
    IfMatch(String),
}

impl Condition {
    pub(super) fn write(&self, call: &mut Call<'_>) -> Result<()> {
        match self {
            Self::None => Ok(()),
            Self::IfAbsent => call.header(IF_NONE_MATCH, "*"),
            Self::IfMatch(etag) => call.header(IF_MATCH, etag),
        }
    }

    pub(super) fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl Headers {
    /// Writes them, and with them the tag by which a write whose answer was lost knows its own object.
    pub(super) fn write(&self, call: &mut Call<'_>, tag: Option<&str>) -> Result<()> {
        for (name, value) in [
            ("content-type", &self.content_type),
            ("content-encoding", &self.content_encoding),
            ("content-disposition", &self.content_disposition),
            ("content-language", &self.content_language),
            ("cache-control", &self.cache_control),
            ("expires", &self.expires),
        ] {
            call.header_if(name, value.as_deref())?;
        }
        for (name, value) in &self.metadata {
            // Another spelling would come back as this one.
            let lower = !name.bytes().any(|byte| byte.is_ascii_uppercase());
            let header = HeaderName::from_bytes(format!("{META}{name}").as_bytes()).ok().filter(|_| lower);
            let header = header.ok_or_else(|| call.refused(&format!("metadata can't have the name '{name}'")))?;
            call.header(header, value)?;
        }
        if let Some(tag) = tag {
            let name = HeaderName::from_bytes(format!("{META}{TAG}").as_bytes());
            call.header(name.map_err(|error| call.refused(&error.to_string()))?, tag)?;
        }
        self.storage.write(call)
    }

    /// Those of an answer. The tag of our own writes is left out: it means nothing to anyone else.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let text = |name: &str| text(headers, name);
        let mut metadata = BTreeMap::new();
        for name in headers.keys() {
            if let Some(short) = name.as_str().strip_prefix(META).filter(|short| *short != TAG) {
                metadata.insert(short.to_owned(), text(name.as_str()).unwrap_or_default());
            }
        }
        let encryption = match text(customer_key::ALGORITHM) {
            Some(_) => Some(Encryption::Customer),
            None => text("x-amz-server-side-encryption").map(|algorithm| Encryption::Server {
                algorithm,
                key: text("x-amz-server-side-encryption-aws-kms-key-id"),
            }),
        };
        Self {
            content_type: text("content-type"),
            content_encoding: text("content-encoding"),
            content_disposition: text("content-disposition"),
            content_language: text("content-language"),
            cache_control: text("cache-control"),
            expires: text("expires"),
            metadata,
            storage: Storage { class: text("x-amz-storage-class"), encryption },
        }
    }
}

impl Storage {
    pub(super) fn write(&self, call: &mut Call<'_>) -> Result<()> {
        call.header_if("x-amz-storage-class", self.class.as_deref())?;
        match &self.encryption {
            Some(Encryption::Server { algorithm, key }) => {
                call.header_if("x-amz-server-side-encryption", Some(algorithm))?;
                call.header_if("x-amz-server-side-encryption-aws-kms-key-id", key.as_deref())
            }
            Some(Encryption::Customer) => {
                call.keyed.writes = true;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The value of a header; of one that was sent several times, all of them, as HTTP joins them.
pub(super) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let first = values.next()?.into_owned();
    Some(values.fold(first, |all, value| all + "," + &value))
}

/// The tag of our own writes.
pub(super) fn tag(headers: &HeaderMap) -> Option<String> {
    text(headers, &format!("{META}{TAG}"))
}
