//! The cache as its users see it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;

use crate::disk::Disk;
use crate::fetch::{Fetcher, Job};
use crate::flight::{Ask, Lead, Wait};
use crate::memory::Memory;
use crate::read_ahead::Readers;
use crate::usage::{Counters, add, get};
use crate::{Budget, Decode, DiskState, Object, Options, Piece, ReadAhead, Reservation, Result, Source, Usage};

/// No file reads ahead further than this, in bytes, however large the cache is.
const READ_AHEAD_BYTES_MAX: u64 = 64 << 20;

/// Who has read nothing for so long has stopped, and leaves room for those who read.
const READER_LAPSE: Duration = Duration::from_secs(2);

/// Pieces of immutable objects: in memory, on disk, or fetched.
pub struct Cache {
    fetcher: Arc<Fetcher>,
    /// Bounds what is fetched for nobody in particular, below what all fetches may take.
    ahead: Budget,
    readers: Arc<Readers>,
    kept_bytes_max: u64,
}

/// What became of asking for one piece of a read.
enum Asked {
    Found(Bytes),
    Wait(Wait),
}

impl Cache {
    /// Opens a cache in front of a store. Blocks on the disk when there is a disk cache, to find what it holds; trouble
    /// with the disk is no error, see [`Usage::disk`].
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] when an option makes no sense.
    pub fn open(source: impl Source, options: Options) -> Result<Arc<Self>> {
        options.check()?;
        let memory_bytes_max = options.memory_bytes_max;
        // A quarter is for fetches, an eighth for the index of the disk cache, the rest for what is kept: fixed shares,
        // so that the sum can't exceed the ceiling and fetches never wait for the kept pieces.
        let in_flight = Budget::new((memory_bytes_max / 4).max(1));
        let index_bytes_max = options.disk.as_ref().map_or(0, |_| memory_bytes_max / 8);
        let kept_bytes_max = memory_bytes_max - memory_bytes_max / 4 - index_bytes_max;
        let memory = Memory::new(kept_bytes_max)?;
        // One quarter of that is left to those who wait, and one is for what waits to be written to the disk.
        let quarter = in_flight.bytes_max() / 4;
        let queue_bytes_max = options.disk.as_ref().map_or(0, |_| quarter);
        let ahead = Budget::new(in_flight.bytes_max() - quarter - queue_bytes_max);
        let each_bytes_max = (memory_bytes_max / 16).min(READ_AHEAD_BYTES_MAX);
        let readers = Readers::new(each_bytes_max, memory_bytes_max / 8, READER_LAPSE);
        let disk = options.disk.clone().map(|disk| Disk::open(disk, index_bytes_max, queue_bytes_max));
        let fetcher = Fetcher::new(Arc::new(source), memory, in_flight, disk, &options);
        Ok(Arc::new(Self { fetcher: Arc::new(fetcher), ahead, readers, kept_bytes_max }))
    }

    /// The decoded pieces of one object, in the order asked for.
    ///
    /// `decode` gets each piece's place in `pieces`. Missing pieces are fetched by tasks of their own, which go on when
    /// this future is dropped, for the benefit of other readers. The answer belongs to the caller: it is not counted
    /// in the cache's memory, so ask for a bounded number of pieces. Needs a tokio runtime.
    ///
    /// # Errors
    /// The first piece's error, in the order asked for. Errors are not cached.
    pub async fn read(
        self: &Arc<Self>,
        object: &Object,
        pieces: &[Piece],
        decode: Arc<dyn Decode>,
    ) -> Result<Vec<Bytes>> {
        let mut asked = Vec::with_capacity(pieces.len());
        let mut leads = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            asked.push(self.ask(object, *piece, index, &mut leads));
        }
        if !leads.is_empty() {
            let job = Job { object: object.clone(), decode, ahead: None };
            self.fetcher.start(&Arc::new(job), leads);
        }
        let mut decoded = Vec::with_capacity(asked.len());
        for one in asked {
            decoded.push(match one {
                Asked::Found(bytes) => bytes,
                Asked::Wait(wait) => wait.answer().await?,
            });
        }
        Ok(decoded)
    }

    /// Starts to fetch what is missing of these pieces, in the background; `decode` gets each piece's place in `pieces`.
    ///
    /// Best effort: pieces for which there is no room among what is under way are left out, from the first such piece
    /// on, and errors are told to nobody but readers who came to wait for the same piece. Does nothing outside a
    /// tokio runtime.
    pub fn prefetch(self: &Arc<Self>, object: Object, pieces: Vec<Piece>, decode: Arc<dyn Decode>) {
        if Handle::try_current().is_err() {
            return;
        }
        let mut leads = Vec::new();
        let mut taken: Option<Reservation> = None;
        for (index, piece) in pieces.into_iter().enumerate() {
            let key = (object.id, piece.offset);
            if self.holds(key.0, key.1) {
                continue;
            }
            let Some(room) = self.ahead.try_reserve(piece.cost()) else {
                break;
            };
            if let Ask::Lead(lead, _) = self.fetcher.flights.ask(&self.fetcher.memory, key, piece, index) {
                leads.push(lead);
                match &mut taken {
                    // Of the same budget, so nothing comes back.
                    Some(taken) => drop(taken.merge(room)),
                    None => taken = Some(room),
                }
            }
        }
        if let Some(ahead) = taken {
            let job = Job { object, decode, ahead: Some(ahead) };
            self.fetcher.start(&Arc::new(job), leads);
        }
    }

    /// Whether the piece of an object at `offset` is in memory or under way to it.
    #[must_use]
    pub fn holds(&self, object_id: u128, offset: u64) -> bool {
        let key = (object_id, offset);
        self.fetcher.memory.contains(&key) || self.fetcher.flights.contains(&key)
    }

    /// Keeps a decoded piece that was just written, so that reading it back fetches nothing.
    ///
    /// `decoded` is kept as it is given: when it is a part of a larger buffer, all of that stays in memory.
    pub fn insert(&self, object_id: u128, offset: u64, decoded: Bytes) {
        self.fetcher.memory.insert((object_id, offset), decoded);
    }

    /// Drops pieces of an object from memory, by their offsets: their reader has passed them, and somebody nearer to it keeps them.
    pub fn release(&self, object_id: u128, offsets: impl IntoIterator<Item = u64>) {
        for offset in offsets {
            self.fetcher.memory.remove(&(object_id, offset));
        }
    }

    /// Says that an object was deleted. Its pieces in memory are dropped; those on disk are left to age out.
    ///
    /// Takes time in proportion to the pieces in memory.
    pub fn forget_object(&self, id: u128) {
        self.fetcher.memory.forget(id);
    }

    /// Counts and sizes at this moment.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let Counters { hits, misses, disk_hits, fetched_bytes } = &self.fetcher.counters;
        let disk = self.fetcher.disk.as_ref();
        let index_bytes = disk.map_or(0, |disk| disk.index_bytes());
        Usage {
            memory_bytes: self.fetcher.memory.bytes() + self.fetcher.in_flight.used() + index_bytes,
            memory_bytes_max: self.kept_bytes_max,
            disk_bytes: disk.map_or(0, |disk| disk.bytes()),
            disk_bytes_max: disk.map_or(0, |disk| disk.bytes_max()),
            hits: get(hits),
            misses: get(misses),
            disk_hits: get(disk_hits),
            fetched_bytes: get(fetched_bytes),
            evictions: self.fetcher.memory.evictions(),
            disk: disk.map_or(DiskState::Absent, |disk| disk.state()),
        }
    }

    /// A read-ahead policy for one open file, which shares what this cache can hold with those of all others.
    #[must_use]
    pub fn read_ahead(&self) -> ReadAhead {
        ReadAhead::new(Arc::clone(&self.readers))
    }

    fn ask(&self, object: &Object, piece: Piece, index: usize, leads: &mut Vec<Lead>) -> Asked {
        let Fetcher { memory, flights, counters, .. } = &*self.fetcher;
        let key = (object.id, piece.offset);
        if let Some(decoded) = memory.get(&key) {
            add(&counters.hits, 1);
            return Asked::Found(decoded);
        }
        add(&counters.misses, 1);
        match flights.ask(memory, key, piece, index) {
            Ask::Found(decoded) => Asked::Found(decoded),
            Ask::Wait(wait) => Asked::Wait(wait),
            Ask::Lead(lead, wait) => {
                leads.push(lead);
                Asked::Wait(wait)
            }
        }
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

#[cfg(test)]
impl Cache {
    /// Memory taken by fetches, once they have come to rest.
    pub(crate) async fn fetcher_in_flight(&self) -> u64 {
        for _ in 0..2000 {
            if self.fetcher.in_flight.used() + self.ahead.used() == 0 && self.flights_under_way() == 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        self.fetcher.in_flight.used() + self.ahead.used()
    }

    /// Whether no task is left that uses the cache or its disk.
    pub(crate) fn is_at_rest(&self) -> bool {
        let disk = self.fetcher.disk.as_ref();
        Arc::strong_count(&self.fetcher) == 1 && disk.is_none_or(|disk| Arc::strong_count(disk) == 1)
    }

    pub(crate) fn flights_under_way(&self) -> usize {
        self.fetcher.flights.len()
    }
}
