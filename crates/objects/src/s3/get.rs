//! Reads: checked for length, and taken up again where they were cut.

use super::attempts::{Attempts, timed};
use super::call::Call;
use super::failure::Failure;
use super::head::{ObjectInfo, length};
use super::{Inner, S3Bucket, headers};
use crate::classify::Class;
use crate::{Error, Result, Verb};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{IF_MATCH, RANGE};
use hyper::{HeaderMap, Method, StatusCode};
use object_store::GetRange;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// What to read of an object. The default is all of it, whatever it is.
#[derive(Debug, Clone, Default)]
pub struct Read {
    /// Which bytes. One that ends after the object is cut there; one that begins after it is
    /// [`Error::InvalidRange`], as is an empty one.
    pub range: Option<GetRange>,
    /// The tag that the object must have.
    pub if_match: Option<String>,
    /// Which version.
    pub version: Option<String>,
}

/// An object, or a range of it, being read.
pub struct Object {
    /// What is known of it.
    pub info: ObjectInfo,
    /// Which bytes of it [`Object::body`] gives.
    pub range: Range<u64>,
    /// Those bytes: exactly as many, or an error. It holds one of the places for requests until it has ended or was
    /// dropped, except while it waits for another attempt.
    pub body: BoxStream<'static, Result<Bytes>>,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("info", &self.info).field("range", &self.range).finish_non_exhaustive()
    }
}

impl S3Bucket {
    /// Reads an object, or a range of it.
    ///
    /// A body that is cut, or stops for longer than [`crate::RetryPolicy::attempt`], is requested again from where it
    /// stopped, under the condition that the object is still the same.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when the object does not have the tag, at first or any more while its
    /// body is read; [`Error::InvalidRange`]; [`Error::Corrupt`] when the server gives another range or another length.
    pub async fn get(&self, key: &str, read: &Read) -> Result<Object> {
        let call = call(key, read)?;
        let mut attempts = Attempts::new(&self.inner, call.name, call.op());
        let opened = loop {
            match open(&self.inner, &call, read).await {
                Ok(opened) => break attempts.done(opened),
                Err(failure) => attempts.again(failure).await?,
            }
        };
        let read = Read {
            range: None,
            // Only under this condition do the rests of two answers make one object.
            if_match: opened.info.etag.clone(),
            // Not the one that was found: to name it takes more rights than to read, and the tag is enough.
            version: read.version.clone(),
        };
        let Opened { info, range, body } = opened;
        let body = Some(body).filter(|_| !range.is_empty());
        let rest = Rest { inner: Arc::clone(&self.inner), key: key.to_owned(), read, range: range.clone(), body };
        Ok(Object { info, range, body: rest.stream() })
    }
}

fn call<'a>(key: &'a str, read: &'a Read) -> Result<Call<'a>> {
    let call = Call::object(Verb::Get, "get", Method::GET, key)?.reading();
    let mut call = call.query_if("versionId", read.version.as_deref());
    if let Some(range) = &read.range {
        let text = match range {
            GetRange::Bounded(range) if range.is_empty() => None,
            GetRange::Bounded(range) => Some(format!("bytes={}-{}", range.start, range.end - 1)),
            GetRange::Offset(start) => Some(format!("bytes={start}-")),
            GetRange::Suffix(0) => None,
            GetRange::Suffix(last) => Some(format!("bytes=-{last}")),
        };
        // HTTP has no word for an empty range.
        let empty = || Error::InvalidRange { op: call.op(), detail: "it is empty".to_owned() };
        let text = text.ok_or_else(empty)?;
        call.header(RANGE, &text)?;
    }
    if let Some(etag) = &read.if_match {
        call.header(IF_MATCH, etag)?;
    }
    Ok(call)
}

struct Opened {
    info: ObjectInfo,
    range: Range<u64>,
    body: (Incoming, OwnedSemaphorePermit),
}

async fn open(inner: &Inner, call: &Call<'_>, read: &Read) -> std::result::Result<Opened, Failure> {
    let (response, place) = inner.open(call).await?;
    let (head, body) = response.into_parts();
    let length = length(&head.headers)?;
    let (range, size) = match head.status {
        StatusCode::PARTIAL_CONTENT => content_range(&head.headers)?,
        _ => (0..length, length),
    };
    let got = format!("{} with bytes {}-{} of {size}, {length} long", head.status.as_u16(), range.start, range.end);
    if range.end - range.start != length {
        return Err(Failure::corrupt(got));
    }
    if range != expected(read.range.as_ref(), size) {
        let whole = head.status != StatusCode::PARTIAL_CONTENT;
        let class = if whole { Class::Unsupported } else { Class::Corrupt };
        return Err(Failure::new(class, format!("another range than asked for: {got}")));
    }
    Ok(Opened { info: ObjectInfo::read(&head.headers, size), range, body: (body, place) })
}

/// The range that an object of `size` bytes has for what was asked.
fn expected(asked: Option<&GetRange>, size: u64) -> Range<u64> {
    match asked {
        None => 0..size,
        Some(GetRange::Bounded(range)) => range.start..range.end.min(size),
        Some(GetRange::Offset(start)) => *start..size,
        Some(GetRange::Suffix(last)) => size.saturating_sub(*last)..size,
    }
}

/// `Content-Range: bytes 0-9/100`: the range, and the size of the whole.
fn content_range(headers: &HeaderMap) -> std::result::Result<(Range<u64>, u64), Failure> {
    let text = headers::text(headers, "content-range").unwrap_or_default();
    let parse = |text: &str| {
        let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last, size): (u64, u64, u64) = (first.parse().ok()?, last.parse().ok()?, size.parse().ok()?);
        (first <= last && last < size).then(|| (first..last + 1, size))
    };
    parse(&text).ok_or_else(|| Failure::corrupt(format!("the answer has a content-range of '{text}'")))
}

/// What is still to come of a body.
struct Rest {
    inner: Arc<Inner>,
    key: String,
    /// How the rest is asked for when it is cut.
    read: Read,
    range: Range<u64>,
    body: Option<(Incoming, OwnedSemaphorePermit)>,
}

impl Rest {
    fn stream(self) -> BoxStream<'static, Result<Bytes>> {
        stream::try_unfold(self, |mut rest| async move {
            let chunk = rest.chunk().await?;
            Ok(chunk.map(|chunk| (chunk, rest)))
        })
        .boxed()
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        if self.range.is_empty() {
            return Ok(None);
        }
        let failure = match self.next().await {
            Ok(chunk) => return Ok(Some(chunk)),
            Err(failure) => failure,
        };
        let inner = Arc::clone(&self.inner);
        let mut attempts = Attempts::new(&inner, "get", format!("get {:?}", self.key));
        self.cut(&mut attempts, failure).await?;
        loop {
            let failure = match self.reopen().await {
                Ok(()) => match self.next().await {
                    Ok(chunk) => return Ok(Some(attempts.done(chunk))),
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            self.cut(&mut attempts, failure).await?;
        }
    }

    /// Waits before the rest is asked for again, leaving the place to others.
    async fn cut(&mut self, attempts: &mut Attempts<'_>, failure: Failure) -> Result<()> {
        self.body = None;
        self.inner.sender.meter.failure();
        if self.read.if_match.is_none() {
            let text = format!("the body was cut, and has no tag to go on by: {failure}");
            return Err(attempts.error(Failure::corrupt(text)));
        }
        attempts.again(failure).await
    }

    async fn next(&mut self) -> std::result::Result<Bytes, Failure> {
        let left = self.range.end - self.range.start;
        let Some((body, _)) = &mut self.body else {
            return Err(Failure::new(Class::Transient, "the body is gone".to_owned()));
        };
        let limit = self.inner.policy.attempt.unwrap_or(self.inner.request_timeout);
        let frame = async {
            loop {
                let Some(frame) = body.frame().await else {
                    return Err(Failure::new(Class::Transient, format!("the body ends {left} bytes too early")));
                };
                let frame = frame.map_err(|error| Failure::transport(&error, false))?;
                // Trailers, and empty chunks, say nothing.
                if let Ok(chunk) = frame.into_data()
                    && !chunk.is_empty()
                {
                    return Ok(chunk);
                }
            }
        };
        let chunk = timed(limit, frame).await?;
        let used = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.inner.sender.meter.bytes_in(used as u64);
        self.range.start += used as u64;
        if self.range.is_empty() {
            self.body = None;
        }
        Ok(chunk.slice(..used))
    }

    async fn reopen(&mut self) -> std::result::Result<(), Failure> {
        let read = Read { range: Some(GetRange::Bounded(self.range.clone())), ..self.read.clone() };
        let refused = |error: Error| Failure::rejected(error.to_string());
        let opened = open(&self.inner, &call(&self.key, &read).map_err(refused)?, &read).await?;
        // Not every server heeds the condition.
        if opened.info.etag != self.read.if_match {
            let text = format!("it has the tag {:?} and not {:?}", opened.info.etag, self.read.if_match);
            return Err(Failure::new(Class::Precondition, text));
        }
        if opened.range != self.range {
            return Err(Failure::corrupt("the object has become shorter".to_owned()));
        }
        self.body = Some(opened.body);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
