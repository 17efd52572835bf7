//! What waits to be uploaded, and who is made to wait for that.

use super::UPLOADS_MAX;
use crate::segment::SEGMENT_BYTES;
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// As much as goes out at once, and the same again, as what arrives is published in order and one upload may be late. What waits beside that
/// makes no upload faster, and lies in memory that has to be got first.
const ENOUGH_BYTES: u64 = 2 * UPLOADS_MAX as u64 * SEGMENT_BYTES;

/// Beyond that, writers go on at this many bytes a second. A store that takes more does not feel it. One that takes less does not slow a
/// program down that writes no more than there is memory for.
const PACE_BYTES: u64 = 256 << 20;

/// Layers that were submitted and are not published.
#[derive(Debug)]
pub(super) struct Backlog {
    bytes: AtomicU64,
    /// Told when there is no more than enough.
    eased: Notify,
    /// When the last of those who wait goes on.
    last_turn: Mutex<Instant>,
}

impl Default for Backlog {
    fn default() -> Self {
        Self { bytes: AtomicU64::new(0), eased: Notify::new(), last_turn: Mutex::new(Instant::now()) }
    }
}

impl Backlog {
    pub(super) fn grew(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    pub(super) fn shrank(&self, bytes: u64) {
        let before = self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        if before > ENOUGH_BYTES && before - bytes <= ENOUGH_BYTES {
            self.eased.notify_waiters();
        }
    }

    /// Returns when so many bytes more are welcome. Never waits for the store itself.
    pub(super) async fn pace(&self, bytes: u64) {
        let mut eased = pin!(self.eased.notified());
        // What shrinks after this is not missed.
        eased.as_mut().enable();
        if self.bytes.load(Ordering::Acquire) <= ENOUGH_BYTES {
            return;
        }
        let turn = {
            let mut last = self.last_turn.lock();
            *last = Instant::now().max(*last) + Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / PACE_BYTES);
            *last
        };
        tokio::select! {
            () = eased => {}
            () = sleep_until(turn) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::join_all;
    use std::sync::Arc;

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_while_the_uploads_have_room() {
        let (backlog, before) = (Backlog::default(), Instant::now());
        backlog.grew(ENOUGH_BYTES);
        backlog.pace(1 << 30).await;
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn all_writers_together_keep_the_pace_and_none_waits_for_ever() {
        let (backlog, before) = (Backlog::default(), Instant::now());
        backlog.grew(ENOUGH_BYTES + 1);
        join_all((0..8).map(|_| backlog.pace(PACE_BYTES / 4))).await;
        assert_eq!(before.elapsed().as_millis(), 2000);
    }

    #[tokio::test(start_paused = true)]
    async fn writers_go_on_when_the_store_has_caught_up() {
        let (backlog, before) = (Arc::new(Backlog::default()), Instant::now());
        backlog.grew(ENOUGH_BYTES + 5);
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let backlog = Arc::clone(&backlog);
                tokio::spawn(async move { backlog.pace(PACE_BYTES * 60).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(10)).await;
        backlog.shrank(5);
        join_all(waiting).await;
        assert_eq!(before.elapsed().as_millis(), 10);
    }
}
