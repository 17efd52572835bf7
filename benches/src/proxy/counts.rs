//! What went through the proxy.

use serde::Serialize;
use std::ops::Sub;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Head,
    Put,
    Post,
    Delete,
}

/// Counters that every connection adds to.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    requests: [AtomicU64; 6],
    sent: AtomicU64,
    received: AtomicU64,
}

/// Requests by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Requests {
    pub(crate) get: u64,
    pub(crate) list: u64,
    pub(crate) head: u64,
    pub(crate) put: u64,
    pub(crate) post: u64,
    pub(crate) delete: u64,
}

/// Requests, and bytes of heads and bodies together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Traffic {
    pub(crate) requests: Requests,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Counts {
    pub(super) fn request(&self, verb: Verb) {
        if let Some(count) = self.requests.get(verb as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn sent(&self, len: u64) {
        self.sent.fetch_add(len, Ordering::Relaxed);
    }

    pub(super) fn received(&self, len: u64) {
        self.received.fetch_add(len, Ordering::Relaxed);
    }

    pub(super) fn traffic(&self) -> Traffic {
        let [get, list, head, put, post, delete] = self.requests.each_ref().map(|count| count.load(Ordering::Relaxed));
        let (sent, received) = (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed));
        Traffic { requests: Requests { get, list, head, put, post, delete }, sent, received }
    }
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        let (now, then) = (self.requests, before.requests);
        let requests = Requests {
            get: now.get - then.get,
            list: now.list - then.list,
            head: now.head - then.head,
            put: now.put - then.put,
            post: now.post - then.post,
            delete: now.delete - then.delete,
        };
        Self { requests, sent: self.sent - before.sent, received: self.received - before.received }
    }
}
