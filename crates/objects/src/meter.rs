//! Counts what is asked of a store.

mod store;

use crate::Verb;
use object_store::ObjectStore;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A shared count of requests and bytes. Clones share it; [`Meter::wrap`] makes a store count into it.
///
/// Below [`crate::Retry`] it counts attempts, which is what a provider bills.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    cells: Arc<Cells>,
}

#[derive(Debug, Default)]
struct Cells {
    requests: [AtomicU64; Verb::ALL.len()],
    failures: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
}

/// What a [`Meter`] has counted up to one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    requests: [u64; Verb::ALL.len()],
    /// Requests that were answered with an error, "not found" and the like included.
    pub failures: u64,
    /// Bytes of objects received.
    pub bytes_in: u64,
    /// Bytes of objects sent.
    pub bytes_out: u64,
}

impl Counts {
    /// Requests of one kind.
    #[must_use]
    pub fn of(&self, verb: Verb) -> u64 {
        self.requests.get(verb as usize).copied().unwrap_or(0)
    }

    /// Requests of every kind.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.requests.iter().sum()
    }

    /// What was counted between `earlier` and this.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut requests = self.requests;
        for (now, then) in requests.iter_mut().zip(earlier.requests) {
            *now = now.saturating_sub(then);
        }
        Self {
            requests,
            failures: self.failures.saturating_sub(earlier.failures),
            bytes_in: self.bytes_in.saturating_sub(earlier.bytes_in),
            bytes_out: self.bytes_out.saturating_sub(earlier.bytes_out),
        }
    }
}

impl Meter {
    /// A meter at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `inner`, whose requests are counted here.
    #[must_use]
    pub fn wrap(&self, inner: Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore> {
        Arc::new(store::Metered { inner, meter: self.clone() })
    }

    /// What has been counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let mut requests = [0; Verb::ALL.len()];
        for (count, cell) in requests.iter_mut().zip(&self.cells.requests) {
            *count = load(cell);
        }
        Counts {
            requests,
            failures: load(&self.cells.failures),
            bytes_in: load(&self.cells.bytes_in),
            bytes_out: load(&self.cells.bytes_out),
        }
    }

    pub(crate) fn request(&self, verb: Verb) {
        if let Some(cell) = self.cells.requests.get(verb as usize) {
            cell.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn bytes_in(&self, bytes: u64) {
        self.cells.bytes_in.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn bytes_out(&self, bytes: u64) {
        self.cells.bytes_out.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts the answer to a request, and hands it on.
    fn answer<T>(&self, result: object_store::Result<T>) -> object_store::Result<T> {
        if result.is_err() {
            self.failure();
        }
        result
    }

    pub(crate) fn failure(&self) {
        self.cells.failures.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
