//! What a request carries, and what is said about it.

use super::sign;
use crate::hex;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use crc_fast::{CrcAlgorithm, Digest};
use hyper::body::{Body, Frame, SizeHint};
use md5::Md5;
use object_store::PutPayload;
use sha2::{Digest as _, Sha256};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A payload is hashed on another thread from this length on: it keeps a thread busy for a tenth of a millisecond.
const LONG: usize = 128 << 10;

/// The chunks of a payload, sent one after the other as they are.
#[derive(Debug)]
pub(super) struct Chunks {
    payload: PutPayload,
    next: usize,
    left: u64,
}

impl Chunks {
    pub(super) fn new(payload: PutPayload) -> Self {
        let left = payload.content_length() as u64;
        Self { payload, next: 0, left }
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, Infallible>>> {
        while let Some(chunk) = self.payload.as_ref().get(self.next).cloned() {
            self.next += 1;
            if !chunk.is_empty() {
                self.left -= chunk.len() as u64;
                return Poll::Ready(Some(Ok(Frame::data(chunk))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// The hash that a signature carries.
pub(super) async fn sha256(payload: &PutPayload) -> sign::Payload {
    let hash = |payload: &PutPayload| {
        let mut hash = Sha256::new();
        payload.iter().for_each(|chunk| hash.update(chunk));
        sign::Payload::Sha256(hex(&hash.finalize()))
    };
    if payload.content_length() < LONG {
        return hash(payload);
    }
    let long = payload.clone();
    match tokio::task::spawn_blocking(move || hash(&long)).await {
        Ok(signed) => signed,
        // The runtime is going down: who waits for this will not hear of it.
        Err(_) => hash(payload),
    }
}

/// The value of `x-amz-checksum-crc64nvme`.
pub(super) fn crc64nvme(payload: &PutPayload) -> String {
    let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
    payload.iter().for_each(|chunk| digest.update(chunk));
    BASE64_STANDARD.encode(digest.finalize().to_be_bytes())
}

/// The value of `Content-MD5`, which some requests must have.
pub(super) fn md5(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(Md5::digest(bytes))
}

#[cfg(test)]
mod tests;
