//! Reads: checked for length, and taken up again where they were cut.

use super::Core;
use super::tries::{Tries, broken};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult, GetResultPayload, ObjectMeta, Result};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Up to this length a body is read before it is handed out: less to do than to watch over what is left of it. A longer one is handed out
/// while it comes, so that its reader can be done with one part while the next arrives, and memory serves many parts.
const WHOLE_MAX: u64 = 64 << 10;

pub(super) async fn get(core: &Arc<Core>, location: &Path, options: GetOptions) -> Result<GetResult> {
    let mut tries = Tries::new(core, "get", Some(location));
    loop {
        let error = match open(core, location, &options).await {
            Ok(result) => return Ok(tries.done(result)),
            Err(error) => error,
        };
        tries.again(error).await?;
    }
}

async fn open(core: &Arc<Core>, location: &Path, options: &GetOptions) -> Result<GetResult> {
    let mut result = core.attempt(0, core.inner.get_opts(location, options.clone())).await?;
    if options.head {
        return Ok(result);
    }
    let length = result.range.end.saturating_sub(result.range.start);
    result.payload = match result.payload {
        GetResultPayload::Stream(body) if length <= WHOLE_MAX => {
            GetResultPayload::Stream(stream::iter(whole(core, body, length).await?.into_iter().map(Ok)).boxed())
        }
        GetResultPayload::Stream(body) => {
            let rest = Rest {
                core: Arc::clone(core),
                location: location.clone(),
                options: unchanged(options, &result.meta),
                body,
                range: result.range.clone(),
            };
            GetResultPayload::Stream(rest.stream())
        }
        file @ GetResultPayload::File(..) => file,
    };
    Ok(result)
}

/// `options`, with the condition that the object is still the one that `meta` describes, if that has a tag or a version to tell it by.
pub(super) fn unchanged(options: &GetOptions, meta: &ObjectMeta) -> GetOptions {
    let mut options = options.clone();
    if meta.e_tag.is_some() {
        options.if_match.clone_from(&meta.e_tag);
        options.if_none_match = None;
        options.if_modified_since = None;
    } else if meta.version.is_some() {
        // Only then: to name a version takes more rights than to read.
        options.version.clone_from(&meta.version);
    }
    options
}

/// The chunks of a body that must be `length` bytes long.
async fn whole(core: &Core, mut body: BoxStream<'static, Result<Bytes>>, length: u64) -> Result<Vec<Bytes>> {
    let mut chunks = Vec::new();
    let mut got = 0;
    while let Some(chunk) = next(core, &mut body).await? {
        got += chunk.len() as u64;
        chunks.push(chunk);
    }
    if got != length {
        return Err(cut(got, length));
    }
    Ok(chunks)
}

async fn next(core: &Core, body: &mut BoxStream<'static, Result<Bytes>>) -> Result<Option<Bytes>> {
    core.attempt(0, async { body.next().await.transpose() }).await
}

fn cut(got: u64, length: u64) -> object_store::Error {
    broken(io::ErrorKind::UnexpectedEof, format!("the body has {got} bytes instead of {length}"))
}

/// What is still to come of a long body.
struct Rest {
    core: Arc<Core>,
    location: Path,
    options: GetOptions,
    body: BoxStream<'static, Result<Bytes>>,
    range: Range<u64>,
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
        let core = Arc::clone(&self.core);
        let location = self.location.clone();
        let mut tries = Tries::new(&core, "get", Some(&location));
        while !self.range.is_empty() {
            let error = match next(&core, &mut self.body).await {
                Ok(Some(chunk)) if chunk.is_empty() => continue,
                Ok(Some(chunk)) => {
                    let left = self.range.end - self.range.start;
                    let used = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.range.start += used as u64;
                    return Ok(Some(tries.done(chunk.slice(..used))));
                }
                Ok(None) => cut(0, self.range.end - self.range.start),
                Err(error) => error,
            };
            // What is cut may hold a place for requests, and the one for the rest must have one.
            self.body = stream::empty().boxed();
            tries.again(error).await?;
            while let Err(error) = self.reopen().await {
                tries.again(error).await?;
            }
        }
        Ok(None)
    }

    async fn reopen(&mut self) -> Result<()> {
        let options = GetOptions { range: Some(GetRange::Bounded(self.range.clone())), ..self.options.clone() };
        let result = self.core.attempt(0, self.core.inner.get_opts(&self.location, options)).await?;
        // Not every store heeds the condition.
        if self.options.if_match.is_some() && result.meta.e_tag != self.options.if_match {
            let text = format!("its tag is {:?}, not {:?}", result.meta.e_tag, self.options.if_match);
            return Err(Error::Precondition { path: self.location.to_string(), source: text.into() });
        }
        if result.range != self.range {
            return Err(broken(
                io::ErrorKind::InvalidData,
                format!("asked for {:?}, got {:?}", self.range, result.range),
            ));
        }
        self.body = result.into_stream();
        Ok(())
    }
}

/// Several ranges at once.
pub(super) async fn ranges(core: &Arc<Core>, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let bytes: u64 = ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum();
    let mut tries = Tries::new(core, "get", Some(location));
    let mut parts = loop {
        match core.attempt(bytes, core.inner.get_ranges(location, ranges)).await {
            Ok(parts) if parts.len() == ranges.len() => break tries.done(parts),
            Ok(parts) => {
                let text = format!("{} ranges instead of {}", parts.len(), ranges.len());
                tries.again(broken(io::ErrorKind::InvalidData, text)).await?;
            }
            Err(error) => tries.again(error).await?,
        }
    };
    for (part, range) in parts.iter_mut().zip(ranges) {
        if part.len() as u64 != range.end.saturating_sub(range.start) {
            // Short because the object ends there, or because the body was cut: a checked read tells.
            let options = GetOptions { range: Some(GetRange::Bounded(range.clone())), ..GetOptions::default() };
            *part = get(core, location, options).await?.bytes().await?;
        }
    }
    Ok(parts)
}
