//! What is read ahead of all readers together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

/// However many others there are, a reader gets this fraction of what one may have alone.
const SHARE_MIN: u64 = 8;

/// The readers of a cache. What was fetched for one and not read yet must not push that of another out of memory, nor take all the room
/// there is for fetches: then the other would wait for the store at each of its reads.
#[derive(Debug)]
pub(crate) struct Readers {
    each_bytes_max: u64,
    all_bytes_max: u64,
    lapse: Duration,
    ahead: Mutex<Ahead>,
}

/// How many bytes are ahead of all who have read lately.
#[derive(Debug)]
struct Ahead {
    /// Which span of time this is, and when it began.
    span: u64,
    began: Instant,
    /// Of those who last read in this span, and in the one before.
    bytes: u64,
    bytes_before: u64,
}

/// What one reader has ahead of it, as it was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    span: u64,
    bytes: u64,
}

impl Share {
    pub(super) fn is_empty(self) -> bool {
        self.bytes == 0
    }
}

/// All readers, at one moment.
pub(super) struct Now<'a> {
    readers: &'a Readers,
    ahead: MutexGuard<'a, Ahead>,
}

impl Readers {
    /// Reads ahead at most `each_bytes_max` bytes of one reader, and of all together little more than `all_bytes_max`. What is ahead of one
    /// who has read nothing for as long as `lapse`, or up to twice that, is not counted any more: it has stopped, and others push what it
    /// left out of memory.
    pub(crate) fn new(each_bytes_max: u64, all_bytes_max: u64, lapse: Duration) -> Arc<Self> {
        let ahead = Mutex::new(Ahead { span: 0, began: Instant::now(), bytes: 0, bytes_before: 0 });
        Arc::new(Self { each_bytes_max, all_bytes_max, lapse, ahead })
    }

    pub(super) fn now(&self, now: Instant) -> Now<'_> {
        let mut ahead = self.ahead.lock();
        let age = now.saturating_duration_since(ahead.began);
        if age >= self.lapse {
            let (spans, bytes_before) = if age < 2 * self.lapse { (1, ahead.bytes) } else { (2, 0) };
            *ahead = Ahead { span: ahead.span + spans, began: now, bytes: 0, bytes_before };
        }
        Now { readers: self, ahead }
    }
}

impl Now<'_> {
    /// How far one may read ahead that has `own` ahead of it now: half of what the others leave. So who comes late finds room, and those
    /// who read at once end up with equal shares.
    pub(super) fn most(&self, own: &Share) -> u64 {
        let others = (self.ahead.bytes + self.ahead.bytes_before).saturating_sub(self.counted(own));
        let left = self.readers.all_bytes_max.saturating_sub(others) / 2;
        left.max(self.readers.each_bytes_max / SHARE_MIN).min(self.readers.each_bytes_max)
    }

    /// Counts that `bytes` are ahead of a reader that had `before`.
    pub(super) fn change(&mut self, before: Share, bytes: u64) -> Share {
        let counted = self.counted(&before);
        if before.span == self.ahead.span {
            self.ahead.bytes -= counted;
        } else {
            self.ahead.bytes_before -= counted;
        }
        self.ahead.bytes += bytes;
        Share { span: self.ahead.span, bytes }
    }

    /// What is still counted of a share.
    fn counted(&self, share: &Share) -> u64 {
        if share.span + 1 >= self.ahead.span { share.bytes } else { 0 }
    }
}
