//! Heads of HTTP/1.1 requests: only what a proxy has to know.

use super::counts::Verb;
use anyhow::{Context, Result, ensure};
use std::io::Read;

/// Longer heads than this are nobody's.
const HEAD_BYTES_MAX: usize = 64 << 10;
const END: &[u8] = b"\r\n\r\n";

/// How the length of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Length(u64),
    Chunked,
}

/// A request up to where its body begins, and whatever of the body was read with it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) verb: Verb,
    pub(super) body: Body,
    pub(super) bytes: Vec<u8>,
    pub(super) start_of_body: Vec<u8>,
}

/// The heads of the requests in a stream. The rest of each body has to be read by the caller.
pub(super) struct Heads<R> {
    stream: R,
    buffer: Vec<u8>,
}

impl<R: Read> Heads<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream, buffer: vec![0; HEAD_BYTES_MAX] }
    }

    /// The next head; `None` at the end of the stream, or if its client goes away.
    pub(super) fn next(&mut self) -> Result<Option<Head>> {
        let mut filled = 0;
        loop {
            let room = self.buffer.get_mut(filled..).filter(|room| !room.is_empty()).context("an endless head")?;
            match self.stream.read(room) {
                Ok(0) | Err(_) => return Ok(None),
                Ok(len) => filled += len,
            }
            let read = self.buffer.get(..filled).unwrap_or_default();
            if let Some(at) = read.windows(END.len()).position(|window| window == END) {
                let (head, rest) = read.split_at(at + END.len());
                return parse(head, rest).map(Some);
            }
        }
    }
}

fn parse(head: &[u8], rest: &[u8]) -> Result<Head> {
    let text = std::str::from_utf8(head).context("a head that is not text")?;
    let mut lines = text.lines();
    let verb = verb(lines.next().unwrap_or_default())?;
    let mut body = Body::Length(0);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            body = Body::Length(value.trim().parse().context("content-length")?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            body = Body::Chunked;
        }
    }
    if let Body::Length(len) = body {
        ensure!(rest.len() as u64 <= len, "more was sent than the head says");
    }
    Ok(Head { verb, body, bytes: head.to_vec(), start_of_body: rest.to_vec() })
}

fn verb(line: &str) -> Result<Verb> {
    let (method, target) = line.split_once(' ').context("no request line")?;
    let query = target.split_once('?').map_or("", |(_, query)| query);
    // Listing a bucket is a GET of the bucket, with or without a prefix: `/bucket?...` or `/bucket/?...`.
    let path = target.split(['?', ' ']).next().unwrap_or_default();
    let of_bucket = path.trim_matches('/').find('/').is_none();
    Ok(match method {
        "GET" if of_bucket || query.contains("list-type=") => Verb::List,
        "GET" => Verb::Get,
        "HEAD" => Verb::Head,
        "PUT" => Verb::Put,
        "POST" => Verb::Post,
        "DELETE" => Verb::Delete,
        other => anyhow::bail!("a request that S3 does not have: {other}"),
    })
}
