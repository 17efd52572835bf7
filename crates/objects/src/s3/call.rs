//! One request, before it is signed.

use super::{body, sign};
use crate::{Error, Result, Verb};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use object_store::PutPayload;
use std::borrow::Cow;

/// The SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// What a request has to do with the customer's key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Keyed {
    /// What it writes is encrypted with it.
    pub(super) writes: bool,
    /// What it reads may be: that is found out by asking.
    pub(super) reads: Option<Reads>,
}

/// What a request reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// The object that it is about.
    Object,
    /// The object that it copies from.
    Source,
}

/// A request: sent once in each attempt, each time signed anew.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// How it is counted.
    pub(super) verb: Verb,
    /// What it does, for messages.
    pub(super) name: &'static str,
    pub(super) method: Method,
    /// The object's key; without, it is about the bucket.
    pub(super) key: Option<&'a str>,
    pub(super) query: Vec<(&'static str, Cow<'a, str>)>,
    pub(super) headers: HeaderMap,
    pub(super) body: PutPayload,
    pub(super) hash: sign::Payload,
    pub(super) keyed: Keyed,
    /// How many bytes' upload it may take longer than others.
    pub(super) slow: u64,
}

impl<'a> Call<'a> {
    /// A request about the bucket.
    pub(super) fn bucket(verb: Verb, name: &'static str, method: Method) -> Self {
        Self {
            verb,
            name,
            method,
            key: None,
            query: Vec::new(),
            headers: HeaderMap::new(),
            body: PutPayload::new(),
            hash: sign::Payload::Sha256(EMPTY.to_owned()),
            keyed: Keyed::default(),
            slow: 0,
        }
    }

    /// A request about an object.
    ///
    /// # Errors
    /// For an empty key, whose URL is that of the bucket: a delete would delete that.
    pub(super) fn object(verb: Verb, name: &'static str, method: Method, key: &'a str) -> Result<Self> {
        let call = Self { key: Some(key), ..Self::bucket(verb, name, method) };
        match key.is_empty() {
            true => Err(call.refused("a key is never empty")),
            false => Ok(call),
        }
    }

    /// One that reads the object it is about.
    pub(super) fn reading(self) -> Self {
        Self { keyed: Keyed { reads: Some(Reads::Object), ..self.keyed }, ..self }
    }

    pub(super) fn query(mut self, name: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// As [`Call::query`], if there is a value.
    pub(super) fn query_if(self, name: &'static str, value: Option<impl Into<Cow<'a, str>>>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Sets a header.
    ///
    /// # Errors
    /// When a header can't carry `value` as it is: only visible ASCII can, and no space at either end.
    pub(super) fn header(&mut self, name: HeaderName, value: &str) -> Result<()> {
        let unclean = value.starts_with([' ', '\t']) || value.ends_with([' ', '\t']) || !value.is_ascii();
        let parsed = HeaderValue::from_str(value).ok().filter(|_| !unclean);
        let value = parsed.ok_or_else(|| self.refused(&format!("the header {name} can't carry '{value}'")))?;
        self.headers.insert(name, value);
        Ok(())
    }

    /// As [`Call::header`], if there is a value.
    pub(super) fn header_if(&mut self, name: &'static str, value: Option<&str>) -> Result<()> {
        match value {
            Some(value) => self.header(HeaderName::from_static(name), value),
            None => Ok(()),
        }
    }

    /// Gives it the data of an object to carry, with a checksum, or signed, or both.
    pub(super) async fn data(&mut self, payload: PutPayload, checksum: bool, signed: bool) -> Result<()> {
        if checksum {
            let value = body::crc64nvme(&payload);
            self.header(HeaderName::from_static("x-amz-checksum-crc64nvme"), &value)?;
        }
        self.hash = if signed { body::sha256(&payload).await } else { sign::Payload::Unsigned };
        self.body = payload;
        Ok(())
    }

    /// Gives it XML to carry: short, so it is signed always, and has the MD5 that some of these requests must have.
    pub(super) async fn xml(&mut self, document: String) -> Result<()> {
        let value = body::md5(document.as_bytes());
        self.header(HeaderName::from_static("content-md5"), &value)?;
        self.headers.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        self.body = document.into();
        self.hash = body::sha256(&self.body).await;
        Ok(())
    }

    /// What it does and to what, for messages.
    pub(super) fn op(&self) -> String {
        match self.key {
            Some(key) => format!("{} {key:?}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// The error for a request that can't be made.
    pub(super) fn refused(&self, detail: &str) -> Error {
        Error::Rejected { op: self.op(), detail: detail.to_owned() }
    }
}
