//! The parts of an object on their way to the store.

use bytes::Bytes;
use stoa_cache::Reservation;
use stoa_objects::Result;
use stoa_objects::s3::{Condition, Headers, Part, S3Bucket, Source, Upload, Written};
use tokio::task::JoinSet;

/// The shortest part that is not the last, in bytes.
pub(crate) const PART_BYTES_MIN: u64 = 5 << 20;

/// The longest part that is copied, in bytes.
const COPY_BYTES_MAX: u64 = 5 << 30;

/// So many parts of one object are on their way at once.
const UNDER_WAY_MAX: usize = 4;

/// A multipart upload.
#[derive(Debug)]
pub(crate) struct Parts {
    s3: S3Bucket,
    upload: Upload,
    under_way: JoinSet<Result<Part>>,
    arrived: Vec<Part>,
    last: u32,
}

/// How long part `number` is, in bytes. With 10,000 parts there is room for 5 TiB if `bytes_max`, what one may take of the
/// memory, is large enough.
pub(crate) fn part_bytes(number: u32, bytes_max: u64) -> u64 {
    let wanted = match number {
        ..=1000 => 8 << 20,
        1001..=3000 => 64 << 20,
        3001..=6000 => 256 << 20,
        _ => 1200 << 20,
    };
    wanted.min(bytes_max).max(PART_BYTES_MIN)
}

impl Parts {
    /// Begins an upload.
    pub(crate) async fn begin(s3: &S3Bucket, key: &str, headers: &Headers) -> Result<Self> {
        let upload = s3.create_upload(key, headers).await?;
        Ok(Self { s3: s3.clone(), upload, under_way: JoinSet::new(), arrived: Vec::new(), last: 0 })
    }

    /// The number of the next part.
    pub(crate) fn next(&self) -> u32 {
        self.last + 1
    }

    /// Sends a part, waiting while enough of them are on their way. The memory it takes is given back when it has arrived.
    ///
    /// # Errors
    /// Of any part: the upload is to be aborted.
    pub(crate) async fn send(&mut self, data: Bytes, held: Option<Reservation>) -> Result<()> {
        self.make_room().await?;
        self.last += 1;
        let (s3, upload, number) = (self.s3.clone(), self.upload.clone(), self.last);
        self.under_way.spawn(async move {
            let part = s3.upload_part(&upload, number, data.into()).await;
            drop(held);
            part
        });
        Ok(())
    }

    /// Has the server copy the first `len` bytes of an object, 5 MiB at least, into parts.
    ///
    /// # Errors
    /// As [`Parts::send`].
    pub(crate) async fn copy(&mut self, source: &Source, len: u64) -> Result<()> {
        let count = len.div_ceil(COPY_BYTES_MAX);
        // All of nearly the same length, so that none is too short.
        let at = |number: u64| len / count * number + (len % count) * number / count;
        for number in 0..count {
            self.make_room().await?;
            self.last += 1;
            let (s3, upload, source, part) = (self.s3.clone(), self.upload.clone(), source.clone(), self.last);
            let range = at(number)..at(number + 1);
            self.under_way.spawn(async move { s3.upload_part_copy(&upload, part, &source, Some(range)).await });
        }
        Ok(())
    }

    /// Waits until all that was sent has arrived.
    ///
    /// # Errors
    /// As [`Parts::send`].
    pub(crate) async fn settle(&mut self) -> Result<()> {
        while self.arrive().await? {}
        Ok(())
    }

    /// Makes the object.
    ///
    /// # Errors
    /// As [`Parts::send`]; and when `condition` does not hold.
    pub(crate) async fn complete(&mut self, condition: &Condition) -> Result<Written> {
        self.settle().await?;
        self.arrived.sort_by_key(|part| part.number);
        self.s3.complete_upload(&self.upload, &self.arrived, condition).await
    }

    /// Gives the upload up.
    pub(crate) async fn abort(mut self) {
        // One that arrives after the end would stay.
        while self.under_way.join_next().await.is_some() {}
        if let Err(error) = self.s3.abort_upload(&self.upload).await {
            let key = &self.upload.key;
            tracing::warn!(%error, key, "an unfinished upload stays until the bucket's rules remove it");
        }
    }

    async fn make_room(&mut self) -> Result<()> {
        while self.under_way.len() >= UNDER_WAY_MAX {
            self.arrive().await?;
        }
        Ok(())
    }

    /// Waits for the next part to arrive; `false` if none is on its way.
    async fn arrive(&mut self) -> Result<bool> {
        match self.under_way.join_next().await {
            Some(Ok(part)) => self.arrived.push(part?),
            Some(Err(error)) => {
                let detail = format!("sending a part ended early: {error}");
                return Err(stoa_objects::Error::Unavailable { op: format!("put {:?}", self.upload.key), detail });
            }
            None => return Ok(false),
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_parts_have_room_for_the_largest_object() {
        let room = |bytes_max| (1..=10_000).map(|number| part_bytes(number, bytes_max)).sum::<u64>();
        assert!(room(2 << 30) >= 5 << 40, "{}", room(2 << 30));
        // An eighth of 4 GiB.
        assert!(room(512 << 20) >= 2 << 40, "{}", room(512 << 20));
        assert_eq!(part_bytes(1, 1), PART_BYTES_MIN);
    }
}
