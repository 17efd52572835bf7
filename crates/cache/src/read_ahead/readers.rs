//! What is read ahead of all readers together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// However many others there are, a reader gets this fraction of what one may have alone.
const SHARE_MIN: u64 = 8;

/// The readers of a cache. What was fetched for one and not read yet must not push that of another out of memory, nor take all the room
/// there is for fetches: then the other would wait for the store at each of its reads.
#[derive(Debug)]
pub(crate) struct Readers {
    each_bytes_max: u64,
    all_bytes_max: u64,
    ahead_bytes: AtomicU64,
}

impl Readers {
    /// Reads ahead at most `each_bytes_max` bytes of one reader, and of all together little more than `all_bytes_max`.
    pub(crate) fn new(each_bytes_max: u64, all_bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { each_bytes_max, all_bytes_max, ahead_bytes: AtomicU64::new(0) })
    }

    /// How far one may read ahead of which `own` bytes are ahead now: half of what the others leave. So who comes late finds room,
    /// and those who read at once end up with equal shares.
    pub(super) fn share(&self, own: u64) -> u64 {
        let others = self.ahead_bytes.load(Ordering::Relaxed).saturating_sub(own);
        let left = self.all_bytes_max.saturating_sub(others) / 2;
        left.max(self.each_bytes_max / SHARE_MIN).min(self.each_bytes_max)
    }

    /// So many bytes are ahead of a reader that were `before`.
    pub(super) fn changed(&self, before: u64, after: u64) {
        if after >= before {
            self.ahead_bytes.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.ahead_bytes.fetch_sub(before - after, Ordering::Relaxed);
        }
    }
}
