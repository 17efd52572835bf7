//! The content of a file: read, sent, verified.

use super::file::{CHANGED, Content, Opened};
use super::{Export, UNIT_BYTES, condition, replacing};
use crate::sum::{Expected, Sent, crc64_text};
use crate::tally::add;
use crate::{Error, PIECE_BYTES, Result, blocking};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use stoa_objects::s3::limits::PARTS_MAX;
use stoa_objects::s3::{Algorithm, Checksum, ObjectInfo, Part, Read, Upload};
use tokio::sync::SemaphorePermit;

/// What S3 made of a file.
struct Stored {
    etag: String,
    /// Whether the tag is that of the bytes that were read.
    known: bool,
    crc: u64,
}

impl Export {
    /// Writes the object of a file. Nothing of it is there before all of it is, and it is the one that was opened.
    pub(super) async fn send(self: &Arc<Self>, key: &str, opened: Opened, there: Option<&ObjectInfo>) -> Result<()> {
        let key = self.key(key);
        let stored = match opened.size() {
            ..=PIECE_BYTES => self.send_whole(&key, &opened, there).await?,
            _ => self.send_parts(&key, &opened, there).await?,
        };
        if stored.known || self.options.unverified {
            return Ok(());
        }
        self.verify(&key, &stored).await
    }

    async fn send_whole(&self, key: &str, opened: &Opened, there: Option<&ObjectInfo>) -> Result<Stored> {
        let (_held, data) = self.read(opened, 0..opened.size()).await?;
        opened.check()?;
        let (sent, data) = hashed(data).await?;
        let headers = replacing(opened.headers.clone(), there);
        let len = data.len() as u64;
        let written = self.s3.put(key, data.into(), &headers, &condition(there)).await?;
        add(&self.tally.bytes, len);
        Ok(Stored { known: sent.is(&written.etag), etag: written.etag, crc: sent.crc })
    }

    async fn send_parts(&self, key: &str, opened: &Opened, there: Option<&ObjectInfo>) -> Result<Stored> {
        let headers = replacing(opened.headers.clone(), there);
        let upload = self.s3.create_upload(key, &headers).await?;
        let sent = match self.parts(&upload, opened).await.and_then(|sent| opened.check().map(|()| sent)) {
            Ok(sent) => sent,
            Err(error) => return self.give_up(&upload, error).await,
        };
        let (parts, sums): (Vec<Part>, Vec<Sent>) = sent.into_iter().unzip();
        let written = match self.s3.complete_upload(&upload, &parts, &condition(there)).await {
            Ok(written) => written,
            Err(error) => return self.give_up(&upload, error.into()).await,
        };
        let (etag, crc) = Sent::whole(&sums);
        let parts_known = parts.iter().zip(&sums).all(|(part, sum)| sum.is(&part.etag));
        Ok(Stored { known: parts_known && written.etag.trim_matches('"') == etag, etag: written.etag, crc })
    }

    async fn give_up<T>(&self, upload: &Upload, error: Error) -> Result<T> {
        self.s3.give_up_upload(upload).await;
        Err(error)
    }

    /// Sends all parts, several at once. None is on its way any more when this returns.
    async fn parts(&self, upload: &Upload, opened: &Opened) -> Result<Vec<(Part, Sent)>> {
        let size = opened.size();
        let step = part_bytes(size);
        let failed = std::sync::atomic::AtomicBool::new(false);
        let failed = &failed;
        let send = |number: u64| async move {
            if failed.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            let start = (number - 1) * step;
            let sent = self.part(upload, number, opened, start..(start + step).min(size)).await;
            failed.fetch_or(sent.is_err(), std::sync::atomic::Ordering::Relaxed);
            sent
        };
        let sending = stream::iter((1..=size.div_ceil(step)).map(send)).buffered(self.options.parallel.max(1));
        // All of them: one that arrives after the upload was given up would stay.
        let sent: Vec<Result<(Part, Sent)>> = sending.collect().await;
        // The first that failed says why, and not one that was not begun because of it.
        let mut stopped = None;
        let mut parts = Vec::with_capacity(sent.len());
        for part in sent {
            match part {
                Ok(part) => parts.push(part),
                Err(Error::Stopped) => stopped = Some(Error::Stopped),
                Err(error) => return Err(error),
            }
        }
        stopped.map_or(Ok(parts), Err)
    }

    async fn part(&self, upload: &Upload, number: u64, opened: &Opened, range: Range<u64>) -> Result<(Part, Sent)> {
        let (_held, data) = self.read(opened, range).await?;
        let (sent, data) = hashed(data).await?;
        let number = u32::try_from(number).map_err(|_| Error::Refused("it has too many parts".to_owned()))?;
        let part = self.s3.upload_part(upload, number, data.into()).await?;
        add(&self.tally.bytes, sent.len);
        Ok((part, sent))
    }

    /// Bytes of a file, all of them or an error, and the memory that they take.
    async fn read(&self, opened: &Opened, range: Range<u64>) -> Result<(SemaphorePermit<'_>, Bytes)> {
        let len = range.end - range.start;
        let units = u32::try_from(len.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX).clamp(1, self.units_max);
        let held = self.memory.acquire_many(units).await;
        let held = held.map_err(|closed| Error::Refused(closed.to_string()))?;
        self.tally.go_on()?;
        let content = opened.content.clone();
        let data = blocking(move || match content {
            Content::Link(target) => Ok(Bytes::from(target)),
            Content::File(file) => {
                let len = usize::try_from(len).map_err(|_| Error::Refused("a part is too long".to_owned()))?;
                let mut data = vec![0; len];
                match file.read_exact_at(&mut data, range.start) {
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(Error::Refused(CHANGED.to_owned())),
                    read => Ok(read.map(|()| data.into())?),
                }
            }
        })
        .await?;
        Ok((held, data))
    }

    /// Finds out whether an object is what was sent, when its tag does not tell: by the checksum that the server keeps, or else
    /// by reading it. One that is not is removed.
    async fn verify(self: &Arc<Self>, key: &str, stored: &Stored) -> Result<()> {
        let own = Checksum { algorithm: Algorithm::Crc64Nvme, value: crc64_text(stored.crc) };
        let kept = self.s3.checksum(key, &stored.etag).await?;
        if kept.as_ref() == Some(&own) {
            return Ok(());
        }
        let read = Read { if_match: Some(stored.etag.clone()), ..Read::default() };
        let mut body = self.s3.get(key, &read).await?.body;
        let expected = Expected::Sum(own);
        let mut hash = expected.hash();
        while let Some(chunk) = body.try_next().await? {
            hash.update(&chunk);
        }
        if expected.holds(hash) {
            return Ok(());
        }
        // Else the next run would take it for the same by its size and time.
        self.s3.delete(key, Some(&stored.etag), None).await?;
        Err(Error::Refused("what the server gives back is not what was sent: it was removed again".to_owned()))
    }
}

/// Hashes on a thread that may take its time.
async fn hashed(data: Bytes) -> Result<(Sent, Bytes)> {
    const SHORT: usize = 64 << 10;
    match data.len() {
        ..SHORT => Ok((Sent::of(&data), data)),
        _ => blocking(move || Ok((Sent::of(&data), data))).await,
    }
}

/// How long the parts of an object are, in bytes: 8 MiB, or as many MiB as it takes for there to be few enough of them.
fn part_bytes(size: u64) -> u64 {
    let least = size.div_ceil(u64::from(PARTS_MAX));
    least.div_ceil(1 << 20).max(PIECE_BYTES >> 20) << 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_few_enough_parts() {
        for size in [PIECE_BYTES + 1, 80 << 30, (80 << 30) + 1, 5 << 40] {
            let step = part_bytes(size);
            assert!(size.div_ceil(step) <= u64::from(PARTS_MAX) && step >= PIECE_BYTES, "{size}: {step}");
        }
        assert_eq!(part_bytes(PIECE_BYTES + 1), PIECE_BYTES);
    }
}
