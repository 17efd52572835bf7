//! The buffers that requests are read into.

use super::init::WRITE_BYTES_MAX;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use stoa_wire_fuse::REQUEST_OVERHEAD;

#[cfg(test)]
mod tests;

/// A request of at least this many bytes is handed on in its buffer; a shorter one is copied out of it.
///
/// Half a buffer: a store that keeps the data until it is uploaded keeps the buffer, so that this bounds how much
/// more memory it holds than it counts to a factor of two.
pub(crate) const HAND_OVER_BYTES_MIN: usize = (WRITE_BYTES_MAX as usize) / 2;

/// Buffers kept for use again, beside those in the workers' hands.
const SPARE_PER_WORKER: usize = 4;

/// Buffers that are not in use. How many are in use is bounded by the writes that the kernel has under way, and by the budget
/// that a store takes what it keeps from.
#[derive(Debug)]
pub(crate) struct Pool {
    spare: Mutex<Vec<Vec<u8>>>,
    spare_max: usize,
}

/// A buffer, which goes back to its pool when it is dropped.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    pool: Arc<Pool>,
}

impl Pool {
    pub(crate) fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self { spare: Mutex::new(Vec::new()), spare_max: workers * SPARE_PER_WORKER })
    }

    /// A buffer with room for any request.
    pub(crate) fn take(self: &Arc<Self>) -> Buffer {
        let spare = self.spare.lock().pop();
        let bytes = spare.unwrap_or_else(|| Vec::with_capacity(WRITE_BYTES_MAX as usize + REQUEST_OVERHEAD));
        Buffer { bytes, pool: Arc::clone(self) }
    }
}

impl Buffer {
    pub(crate) fn as_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What it holds as [`Bytes`], without a copy.
    pub(crate) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut spare = self.pool.spare.lock();
        if spare.len() < self.pool.spare_max {
            spare.push(std::mem::take(&mut self.bytes));
        }
    }
}
