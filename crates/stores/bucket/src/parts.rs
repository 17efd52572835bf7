//! The parts of an object on their way to the store.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stoa_cache::Reservation;
use stoa_objects::Result;
use stoa_objects::s3::limits::{PART_BYTES_MIN, PARTS_MAX};
use stoa_objects::s3::{Condition, Headers, Part, S3Bucket, Source, Upload, Written};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// So many parts of one object are on their way at once,
const SENT_AT_ONCE: usize = 4;
/// and so many, if the server copies them.
const COPIED_AT_ONCE: usize = 16;

/// Parts of all files on their way: when one arrives, it gives memory back.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    count: AtomicU64,
    arrived: Notify,
}

/// One of them.
struct OnItsWay(Arc<Traffic>);

impl Traffic {
    fn begin(self: &Arc<Self>) -> OnItsWay {
        self.count.fetch_add(1, Ordering::SeqCst);
        OnItsWay(Arc::clone(self))
    }

    /// Waits until one has arrived; `false` if none is on its way.
    pub(crate) async fn arrive(&self) -> bool {
        let mut arrived = std::pin::pin!(self.arrived.notified());
        // One that arrives after this is not missed.
        arrived.as_mut().enable();
        if self.count.load(Ordering::SeqCst) == 0 {
            return false;
        }
        arrived.await;
        true
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::SeqCst);
        self.0.arrived.notify_waiters();
    }
}

/// A multipart upload.
#[derive(Debug)]
pub(crate) struct Parts {
    s3: S3Bucket,
    traffic: Arc<Traffic>,
    upload: Upload,
    under_way: JoinSet<Result<Part>>,
    arrived: BTreeMap<u32, Part>,
}

impl Parts {
    /// Begins an upload, of parts that are sent.
    pub(crate) async fn begin(s3: &S3Bucket, key: &str, headers: &Headers, traffic: &Arc<Traffic>) -> Result<Self> {
        Ok(Self::of(s3, s3.create_upload(key, headers).await?, traffic))
    }

    /// Begins one of parts that are copied, some of them or all.
    pub(crate) async fn begin_copies(
        s3: &S3Bucket,
        key: &str,
        headers: &Headers,
        traffic: &Arc<Traffic>,
    ) -> Result<Self> {
        Ok(Self::of(s3, s3.create_upload_of_copies(key, headers).await?, traffic))
    }

    /// Those of an upload that was begun just now.
    pub(crate) fn of(s3: &S3Bucket, upload: Upload, traffic: &Arc<Traffic>) -> Self {
        let traffic = Arc::clone(traffic);
        Self { s3: s3.clone(), traffic, upload, under_way: JoinSet::new(), arrived: BTreeMap::new() }
    }

    /// Has the server copy all of an object of `size` bytes, at least one, and `bytes_max` at once. A failure leaves no upload.
    ///
    /// # Errors
    /// As [`Parts::send`] and [`Parts::complete`].
    pub(crate) async fn copy_all(
        mut self,
        source: &Source,
        size: u64,
        bytes_max: u64,
        condition: &Condition,
    ) -> Result<Written> {
        let copied = async {
            let mut numbers = Vec::new();
            for (number, range) in (1..).zip(copied_ranges(size, bytes_max)) {
                self.copy(number, source, range).await?;
                numbers.push(number);
            }
            self.complete(&numbers, condition).await
        };
        let copied = copied.await;
        if copied.is_err() {
            self.abort().await;
        }
        copied
    }

    /// Sends a part, waiting while enough of them are on their way. The memory it takes is given back when it has arrived. One of
    /// the same number is replaced; it must have arrived.
    ///
    /// # Errors
    /// Of any part: the upload is to be aborted.
    pub(crate) async fn send(&mut self, number: u32, data: Vec<Bytes>, held: Option<Reservation>) -> Result<()> {
        self.make_room(SENT_AT_ONCE).await?;
        let (s3, upload, on_its_way) = (self.s3.clone(), self.upload.clone(), self.traffic.begin());
        self.under_way.spawn(async move {
            let part = s3.upload_part(&upload, number, data.into_iter().collect()).await;
            // In this order: who is told looks for the memory.
            drop(held);
            drop(on_its_way);
            part
        });
        Ok(())
    }

    /// Has the server copy a range of an object into a part.
    ///
    /// # Errors
    /// As [`Parts::send`].
    pub(crate) async fn copy(&mut self, number: u32, source: &Source, range: Range<u64>) -> Result<()> {
        self.make_room(COPIED_AT_ONCE).await?;
        let (s3, upload, source) = (self.s3.clone(), self.upload.clone(), source.clone());
        self.under_way.spawn(async move { s3.upload_part_copy(&upload, number, &source, Some(range)).await });
        Ok(())
    }

    /// Waits until all that was sent has arrived, or has failed to: nothing is on its way then.
    ///
    /// # Errors
    /// As [`Parts::send`], the first.
    pub(crate) async fn settle(&mut self) -> Result<()> {
        let mut first = Ok(());
        loop {
            match self.arrive().await {
                Ok(true) => {}
                Ok(false) => return first,
                Err(error) => first = first.and(Err(error)),
            }
        }
    }

    /// Makes the object of the parts with these numbers, which are in order.
    ///
    /// # Errors
    /// As [`Parts::send`]; and when `condition` does not hold.
    pub(crate) async fn complete(&mut self, numbers: &[u32], condition: &Condition) -> Result<Written> {
        self.settle().await?;
        let parts: Vec<Part> = numbers.iter().filter_map(|number| self.arrived.get(number).cloned()).collect();
        if parts.len() < numbers.len() {
            let detail = "a part that was sent is not among those that arrived".to_owned();
            return Err(stoa_objects::Error::Corrupt { op: format!("complete {:?}", self.upload.key), detail });
        }
        self.s3.complete_upload(&self.upload, &parts, condition).await
    }

    /// Gives the upload up.
    pub(crate) async fn abort(mut self) {
        // One that arrives after the end would stay.
        while self.under_way.join_next().await.is_some() {}
        self.s3.give_up_upload(&self.upload).await;
    }

    /// Waits for the next part to arrive; `false` if none is on its way.
    ///
    /// # Errors
    /// As [`Parts::send`].
    pub(crate) async fn arrive(&mut self) -> Result<bool> {
        match self.under_way.join_next().await {
            Some(Ok(part)) => {
                let part = part?;
                self.arrived.insert(part.number, part);
            }
            Some(Err(error)) => {
                let detail = format!("sending a part ended early: {error}");
                return Err(stoa_objects::Error::Unavailable { op: format!("put {:?}", self.upload.key), detail });
            }
            None => return Ok(false),
        }
        Ok(true)
    }

    async fn make_room(&mut self, count: usize) -> Result<()> {
        while self.under_way.len() >= count {
            self.arrive().await?;
        }
        Ok(())
    }
}

/// The parts of `size` bytes: more than one at once makes it faster, so they are shorter than the longest that can be copied.
fn copied_ranges(size: u64, bytes_max: u64) -> impl Iterator<Item = Range<u64>> {
    let wanted = (bytes_max / 10).max(PART_BYTES_MIN).max(size.div_ceil(u64::from(PARTS_MAX)));
    // All of nearly the same length, so that none is too short.
    let count = (size / wanted).max(1);
    let at = move |number: u64| size / count * number + (size % count) * number / count;
    (0..count).map(move |number| at(number)..at(number + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_within_what_a_server_takes() {
        for size in [5 << 30, (5 << 30) + 1, 100 << 30, 5 << 40] {
            let ranges: Vec<_> = copied_ranges(size, 5 << 30).collect();
            assert!(ranges.len() <= 10_000, "{size}: {} parts", ranges.len());
            assert!(ranges.iter().all(|it| (PART_BYTES_MIN..=5 << 30).contains(&(it.end - it.start))), "{size}");
            assert_eq!((ranges.first().unwrap().start, ranges.last().unwrap().end), (0, size));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{size}");
        }
    }
}
