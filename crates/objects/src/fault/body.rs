//! Bodies that go wrong.

use super::Injection;
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::{Error, Result};
use std::io;

/// `body`, `length` bytes long, with a fault in it.
pub(super) fn spoil(
    body: BoxStream<'static, Result<Bytes>>,
    length: u64,
    injection: Injection,
) -> BoxStream<'static, Result<Bytes>> {
    let half = length / 2;
    match injection {
        Injection::Cut => first(body, half).chain(stream::once(async { Err(broken()) })).boxed(),
        Injection::CutSilently => first(body, half).boxed(),
        Injection::Flip => flipped(body, half),
        _ => body,
    }
}

fn broken() -> Error {
    let source = io::Error::new(io::ErrorKind::ConnectionReset, "injected: the body was cut");
    Error::Generic { store: "fault", source: Box::new(source) }
}

fn first(body: BoxStream<'static, Result<Bytes>>, bytes: u64) -> BoxStream<'static, Result<Bytes>> {
    stream::unfold((body, bytes), |(mut body, left)| async move {
        if left == 0 {
            return None;
        }
        let chunk = match body.next().await? {
            Ok(chunk) => chunk,
            Err(error) => return Some((Err(error), (body, 0))),
        };
        let used = chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        Some((Ok(chunk.slice(..used)), (body, left - used as u64)))
    })
    .boxed()
}

fn flipped(body: BoxStream<'static, Result<Bytes>>, at: u64) -> BoxStream<'static, Result<Bytes>> {
    let mut before = 0;
    body.map(move |chunk| {
        let chunk = chunk?;
        let start = before;
        before += chunk.len() as u64;
        let Some(offset) = at.checked_sub(start).and_then(|offset| usize::try_from(offset).ok()) else {
            return Ok(chunk);
        };
        let mut spoiled = BytesMut::from(chunk.as_ref());
        if let Some(byte) = spoiled.get_mut(offset) {
            *byte ^= 1;
        }
        Ok(spoiled.freeze())
    })
    .boxed()
}
