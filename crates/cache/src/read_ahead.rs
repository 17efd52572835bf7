//! How far to read ahead in one open file.

mod readers;

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

pub(crate) use self::readers::Readers;
use self::readers::Share;

/// The first window, in bytes, unless the reads themselves are large.
const WINDOW_BYTES_MIN: u64 = 128 << 10;
/// The first window in reads: who asks for a MiB at once wants more than one.
const FIRST_REQUESTS: u64 = 4;
/// Of a file that is no longer than this, all is fetched at the first read: with a far store, its bytes take less time than one more request.
const WHOLE_BYTES_MAX: u64 = 1 << 20;
/// How many requests of the kernel may overtake one another.
const REORDER_REQUESTS: u64 = 8;
/// What was read is given up in multiples of this, so that hardly a piece of an object is given up with a part unread.
const BEHIND_BYTES: u64 = 1 << 20;
/// So much has to be passed before it is given up.
const BEHIND_BYTES_MIN: u64 = 4 << 20;
/// More is asked for once so much of the window is free, however large it is: what a far store sends while the last
/// request is on its way back is what the reader does not wait for. Windows end at multiples of it in the file, or where there is less room
/// of half of it, and so on, as what was written in one go does: so one request brings it.
const REFILL_BYTES_MAX: u64 = 8 << 20;
/// What is asked for in smaller steps than this ends anywhere.
const ALIGNED_BYTES_MIN: u64 = 1 << 20;
/// So much where what was written lies scattered: each request for a stretch of the file brings only the part of it that is in one object, and
/// the longer the stretch, the fewer they are.
const REFILL_SCATTERED_BYTES: u64 = 32 << 20;
/// How many holes left by overtaking requests are remembered; one more, and the reads are not sequential.
const HOLES_MAX: usize = 8;

/// When and how far to read ahead: from nothing, doubling while the reads are sequential, up to a maximum.
///
/// Pure policy: it does nothing but compute. Several threads may report reads at once, and in another order than they
/// were made, as the kernel's own read-ahead does; a few requests may overtake one another. Anything else is a random
/// read: reading ahead stops, and begins anew, from nothing, when reads continue from there.
#[derive(Debug)]
pub struct ReadAhead {
    readers: Arc<Readers>,
    stream: Mutex<Stream>,
}

#[derive(Debug, Default)]
struct Stream {
    /// Where the furthest read of the stream ended.
    front: u64,
    /// How far beyond the front to have things fetched; 0 while nothing says that reads are sequential.
    window: u64,
    /// Up to where it was told to fetch.
    fetched: u64,
    /// What was skipped on the way to the front, for requests that were overtaken.
    holes: Vec<Range<u64>>,
    /// The longest read so far: a short one may overtake long ones.
    len_max: u64,
    /// From where on what was read has not been given up.
    kept: u64,
    /// What it has ahead, as it is counted among all readers.
    share: Share,
    /// What lies ahead was written here and there.
    scattered: bool,
    started: bool,
}

/// How a read stands to the ones before it.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Goes on exactly where the furthest ended.
    Next,
    /// A little further: one that has overtaken others.
    Skip,
    /// One that was overtaken.
    Late,
    /// None of these.
    Random,
}

impl ReadAhead {
    pub(crate) fn new(readers: Arc<Readers>) -> Self {
        Self { readers, stream: Mutex::default() }
    }

    /// Takes note of a read of `len` bytes at `offset` and says which bytes of the file to fetch ahead, if any.
    ///
    /// The range lies within `file_size`, and overlaps no range given since the stream began. It begins after the read; or it is all of a
    /// small file, with what is read.
    #[must_use]
    pub fn on_read(&self, offset: u64, len: u64, file_size: u64) -> Option<Range<u64>> {
        if len == 0 || offset >= file_size {
            return None;
        }
        let end = offset.saturating_add(len).min(file_size);
        let mut stream = self.stream.lock();
        stream.len_max = stream.len_max.max(len);
        let small = !stream.started && file_size <= WHOLE_BYTES_MAX;
        match stream.step(offset, end) {
            Step::Next => {
                stream.front = end;
                // The start of a file is likely to be followed by the rest of it; elsewhere, a second read must say so.
                let first = WINDOW_BYTES_MIN.max(len.saturating_mul(FIRST_REQUESTS));
                stream.window = stream.window.max(if small { file_size } else { first });
                // Reads this far behind never come: the kernel had those pages.
                let old = offset.saturating_sub(stream.slack());
                stream.holes.retain(|hole| hole.end > old);
            }
            Step::Skip => {
                let hole = stream.front..offset;
                stream.holes.push(hole);
                stream.front = end;
            }
            Step::Late => stream.fill(offset, end),
            // From its start: the front moves on below.
            Step::Random if small => stream.window = file_size,
            Step::Random => {
                let kept = offset.next_multiple_of(BEHIND_BYTES);
                let share = stream.share;
                *stream = Stream { front: end, fetched: end, kept, share, started: true, ..Stream::default() };
            }
        }
        stream.started = true;
        // A random read has nothing ahead and gets nothing: what others have is not looked at, which takes the lock of all.
        if stream.window == 0 && stream.share.is_empty() {
            return None;
        }
        let mut all = self.readers.now(Instant::now());
        let most = all.most(&stream.share);
        let fetch = stream.advance(most, file_size);
        stream.front = stream.front.max(end);
        stream.share = all.change(stream.share, stream.ahead());
        fetch
    }

    /// Says whether what was to be fetched last lies scattered, in many parts of several objects: then more of the file is to be fetched at a time.
    pub fn found_scattered(&self, scattered: bool) {
        self.stream.lock().scattered = scattered;
    }

    /// The bytes of the file that a long sequential reader has passed since it was asked last, if they are a few MiB at
    /// least: it is not going to read them again soon.
    #[must_use]
    pub fn behind(&self) -> Option<Range<u64>> {
        let mut stream = self.stream.lock();
        let passed = stream.holes.iter().map(|hole| hole.start).fold(stream.front, u64::min);
        let end = passed.saturating_sub(stream.slack()) / BEHIND_BYTES * BEHIND_BYTES;
        let behind = stream.kept..end;
        if behind.is_empty() || end - stream.kept < BEHIND_BYTES_MIN {
            return None;
        }
        stream.kept = end;
        Some(behind)
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.readers.now(Instant::now()).change(self.stream.get_mut().share, 0);
    }
}

impl Stream {
    /// How many bytes were fetched, or are being fetched, that were not read.
    fn ahead(&self) -> u64 {
        self.fetched.saturating_sub(self.front)
    }

    /// How far apart reads may be that were made in order.
    fn slack(&self) -> u64 {
        self.len_max.saturating_mul(REORDER_REQUESTS)
    }

    fn step(&self, offset: u64, end: u64) -> Step {
        if offset == self.front {
            return Step::Next;
        }
        let late = |hole: &Range<u64>| offset >= hole.start && end <= hole.end;
        if self.holes.iter().any(late) {
            return Step::Late;
        }
        let skips = self.started && offset > self.front && offset - self.front <= self.slack();
        if skips && self.holes.len() < HOLES_MAX { Step::Skip } else { Step::Random }
    }

    /// Takes a read that lies within one hole out of it.
    fn fill(&mut self, offset: u64, end: u64) {
        let Some(at) = self.holes.iter().position(|hole| offset >= hole.start && end <= hole.end) else {
            return;
        };
        let hole = self.holes.swap_remove(at);
        self.holes.extend([hole.start..offset, end..hole.end].into_iter().filter(|rest| !rest.is_empty()));
    }

    /// The next range to fetch, once half of the window is free or as much as one request brings; the window doubles each time.
    fn advance(&mut self, bytes_max: u64, file_size: u64) -> Option<Range<u64>> {
        self.window = self.window.min(bytes_max);
        let start = self.fetched.max(self.front);
        let refill_max = if self.scattered { REFILL_SCATTERED_BYTES } else { REFILL_BYTES_MAX };
        let refill = (self.window / 2).min(refill_max);
        if self.window == 0 || start - self.front > self.window - refill {
            return None;
        }
        let mut end = self.front.saturating_add(self.window);
        let step = 1_u64 << refill.min(REFILL_BYTES_MAX).checked_ilog2().unwrap_or(0);
        if step >= ALIGNED_BYTES_MIN {
            end -= end % step;
        }
        let end = end.min(file_size);
        if start >= end {
            return None;
        }
        self.fetched = end;
        self.window = self.window.saturating_mul(2);
        Some(start..end)
    }
}

#[cfg(test)]
mod tests;
