//! Listings, page by page.

use super::S3Bucket;
use super::attempts::Answer;
use super::call::Call;
use super::encode;
use super::failure::Failure;
use super::xml::Element;
use crate::{Result, Verb};
use chrono::DateTime;
use hyper::Method;
use std::time::SystemTime;

/// Which objects to list. The default is all of them.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// What their keys begin with.
    pub prefix: String,
    /// Keys that have this after the prefix are not listed one by one: what they have in common up to the first one, and
    /// including it, is given once, as a prefix.
    pub delimiter: Option<String>,
    /// Only keys after this one, in the order of their bytes. Not looked at when [`List::continuation`] is there.
    pub start_after: Option<String>,
    /// [`Page::next`] of the page before; all else must be the same as there.
    pub continuation: Option<String>,
    /// How many objects and prefixes a page has at most; the server may give fewer. Otherwise 1,000.
    pub keys_max: Option<u16>,
}

/// One page of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Objects, in the order of their keys' bytes.
    pub objects: Vec<Listed>,
    /// What keys have in common, up to and including the delimiter, in the same order.
    pub prefixes: Vec<String>,
    /// What the next page is asked for by; `None` on the last one. A page may be empty and not the last.
    pub next: Option<String>,
}

/// One object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its key, byte for byte.
    pub key: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its tag, exactly as the server gives it.
    pub etag: Option<String>,
    /// When it was written, by the server's clock.
    pub modified: Option<SystemTime>,
    /// Its storage class, if the server says one: `STANDARD` is said here, and not by reads.
    pub storage_class: Option<String>,
}

impl S3Bucket {
    /// Lists one page of the objects in the bucket.
    ///
    /// Keys come back byte for byte, whatever is in them: they are asked for percent-encoded, as XML has no words for control
    /// characters.
    ///
    /// # Errors
    /// [`crate::Error::MissingBucket`], never an empty page, when there is no bucket; [`crate::Error::Corrupt`] for an
    /// answer that is not whole, or does not say whether it is the last page, or has a key that is no UTF-8.
    pub async fn list(&self, list: &List) -> Result<Page> {
        let call = Call::bucket(Verb::List, "list", Method::GET)
            .query("list-type", "2")
            .query("encoding-type", "url")
            .query("prefix", list.prefix.as_str())
            .query_if("delimiter", list.delimiter.as_deref())
            .query_if("continuation-token", list.continuation.as_deref())
            .query_if("start-after", list.start_after.as_deref().filter(|_| list.continuation.is_none()))
            .query_if("max-keys", list.keys_max.map(|keys| keys.to_string()));
        let asked = list.continuation.as_ref();
        self.inner
            .run(&call, |answer| page(answer).and_then(|page| advanced(asked, page.next.as_ref()).map(|()| page)))
            .await
    }
}

fn page(answer: &Answer) -> std::result::Result<Page, Failure> {
    let root = answer.xml("ListBucketResult")?;
    let keys = Keys::of(&root);
    let objects = root.all("Contents").map(|object| listed(&keys, object)).collect::<std::result::Result<_, _>>()?;
    let next = match root.parsed("IsTruncated")? {
        true => Some(root.need("NextContinuationToken")?.to_owned()),
        false => None,
    };
    Ok(Page { objects, prefixes: keys.prefixes(&root)?, next })
}

fn listed(keys: &Keys, object: &Element) -> std::result::Result<Listed, Failure> {
    Ok(Listed {
        key: keys.need(object, "Key")?,
        size: object.parsed("Size")?,
        etag: object.text_of("ETag").map(str::to_owned),
        modified: object.text_of("LastModified").and_then(date),
        storage_class: object.text_of("StorageClass").map(str::to_owned),
    })
}

/// Fails when the next page is the one that was asked for: whoever reads on would do so for ever.
pub(super) fn advanced<T: PartialEq>(asked: Option<&T>, next: Option<&T>) -> std::result::Result<(), Failure> {
    match next.is_some() && asked == next {
        true => Err(Failure::corrupt("the page after this one is this one again".to_owned())),
        false => Ok(()),
    }
}

/// A date as listings write it.
pub(super) fn date(text: &str) -> Option<SystemTime> {
    DateTime::parse_from_rfc3339(text).ok().map(SystemTime::from)
}

/// How keys are written in an answer: servers that don't know the encoding leave them as they are.
pub(super) struct Keys {
    encoded: bool,
}

impl Keys {
    pub(super) fn of(root: &Element) -> Self {
        Self { encoded: root.text_of("EncodingType") == Some("url") }
    }

    /// The key in an element that must be there.
    pub(super) fn need(&self, element: &Element, name: &str) -> std::result::Result<String, Failure> {
        let text = element.need(name)?;
        if !self.encoded {
            return Ok(text.to_owned());
        }
        encode::decode(text).ok_or_else(|| Failure::corrupt(format!("the answer has a key that is no UTF-8: '{text}'")))
    }

    /// What keys have in common.
    pub(super) fn prefixes(&self, root: &Element) -> std::result::Result<Vec<String>, Failure> {
        root.all("CommonPrefixes").map(|common| self.need(common, "Prefix")).collect()
    }
}

#[cfg(test)]
mod tests;
