//! The buffers that requests are read into.

use super::init::WRITE_BYTES_MAX;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use stoa_wire_fuse::REQUEST_OVERHEAD;
use tokio::runtime::Handle;

#[cfg(test)]
mod tests;

/// A request of at least this many bytes is handed on in its buffer; a shorter one is copied out of it.
///
/// Half a buffer: a store that keeps the data until it is uploaded keeps the buffer, so that this bounds how much
/// more memory it holds than it was given to a factor of two. Of what it keeps only a part of, it sees to that itself.
pub(crate) const HAND_OVER_BYTES_MIN: usize = (WRITE_BYTES_MAX as usize) / 2;

/// Buffers kept for good, beside those in the workers' hands.
const SPARE_PER_WORKER: usize = 4;

/// How long one beyond these is kept without being wanted. New memory costs the kernel a fault for each page and clearing it, which took
/// a third of the time of a long write; and a write that goes on wants a buffer again within milliseconds.
const KEPT: Duration = Duration::from_secs(1);

/// Buffers, and those of them that are not in use. How many are in use is bounded by the writes that the kernel has under way, and by
/// the budget that a store takes what it keeps from.
#[derive(Debug)]
pub(crate) struct Pool {
    spare: Mutex<Spare>,
    /// So many are kept for good;
    idle_max: usize,
    /// and so many while they are wanted, with those in use. So what is kept takes no more memory than what a store may hold, and a store
    /// that gives back a whole segment of them finds them again.
    buffers_max: usize,
    runtime: Handle,
}

#[derive(Debug, Default)]
struct Spare {
    buffers: Vec<Vec<u8>>,
    /// How many are in use.
    used: usize,
    /// The fewest there were since the last look: nobody wanted these.
    unwanted: usize,
    /// Whether somebody looks, because there are more than are kept for good.
    watched: bool,
}

/// A buffer, which goes back to its pool when it is dropped.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    pool: Arc<Pool>,
}

impl Pool {
    /// A pool that keeps buffers while they are wanted, up to `buffers_max` with those in use.
    pub(crate) fn new(workers: usize, buffers_max: usize, runtime: Handle) -> Arc<Self> {
        let idle_max = workers * SPARE_PER_WORKER;
        Arc::new(Self { spare: Mutex::default(), idle_max, buffers_max: buffers_max.max(idle_max), runtime })
    }

    /// A buffer with room for any request.
    pub(crate) fn take(self: &Arc<Self>) -> Buffer {
        let bytes = self.spare.lock().take();
        let bytes = bytes.unwrap_or_else(|| Vec::with_capacity(WRITE_BYTES_MAX as usize + REQUEST_OVERHEAD));
        Buffer { bytes, pool: Arc::clone(self) }
    }

    fn give_back(self: &Arc<Self>, bytes: Vec<u8>) {
        let mut spare = self.spare.lock();
        spare.used -= 1;
        if spare.used + spare.buffers.len() >= self.buffers_max {
            return;
        }
        spare.buffers.push(bytes);
        if spare.buffers.len() > self.idle_max && !spare.watched {
            spare.watched = true;
            let pool = Arc::clone(self);
            self.runtime.spawn(async move {
                loop {
                    tokio::time::sleep(KEPT).await;
                    if !pool.spare.lock().trim(pool.idle_max) {
                        return;
                    }
                }
            });
        }
    }
}

impl Spare {
    fn take(&mut self) -> Option<Vec<u8>> {
        self.used += 1;
        let taken = self.buffers.pop();
        self.unwanted = self.unwanted.min(self.buffers.len());
        taken
    }

    /// Frees what nobody wanted since the last time, but for `idle_max`; whether there may be more to free.
    fn trim(&mut self, idle_max: usize) -> bool {
        let kept = (self.buffers.len() - self.unwanted).max(idle_max);
        self.buffers.truncate(kept);
        self.unwanted = self.buffers.len();
        self.watched = self.buffers.len() > idle_max;
        self.watched
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
        self.pool.give_back(std::mem::take(&mut self.bytes));
    }
}
