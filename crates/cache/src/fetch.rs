//! Fetching pieces: turns, memory, GETs, decoding, and telling those who wait.
//!
//! **No deadlock.** A task waits for a turn, then for memory, and holds no memory while it waits for either. Memory is
//! held only by tasks that wait for nothing but the store, the decoder and the disk.

use std::sync::Arc;
use std::thread::available_parallelism;

use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task;

use crate::body::Body;
use crate::disk::Disk;
use crate::flight::{Flights, Lead};
use crate::memory::{ENTRY_BYTES, Memory};
use crate::plan::coalesce;
use crate::usage::{Counters, add};
use crate::{Budget, Decode, Error, Object, Options, Piece, Reservation, Result, Source};

/// Pieces of at most so many bytes, as stored and decoded, are decoded in place: a trip to another thread costs more. So are those
/// that do not grow, as there is nothing to do but to check them.
const INLINE_BYTES_MAX: u64 = 32 << 10;

/// Brings pieces into memory.
pub(crate) struct Fetcher {
    source: Arc<dyn Source>,
    pub(crate) memory: Memory,
    pub(crate) flights: Arc<Flights>,
    pub(crate) in_flight: Budget,
    pub(crate) disk: Option<Arc<Disk>>,
    pub(crate) counters: Counters,
    turns: Semaphore,
    /// Fetches ahead take a turn here first, so that some are always left to readers.
    ahead_turns: Semaphore,
    /// Second tries take their turn here, because they hold memory already.
    again_turns: Semaphore,
    decode_turns: Semaphore,
    disk_turns: Semaphore,
    gap_bytes_max: u64,
    fetch_bytes_max: u64,
}

/// What the fetches of one request have in common.
pub(crate) struct Job {
    pub(crate) object: Object,
    pub(crate) decode: Arc<dyn Decode>,
    /// Set when nobody waits for it: the room it takes among what is fetched ahead.
    pub(crate) ahead: Option<Reservation>,
}

/// Where stored bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Disk,
    Store,
}

impl Fetcher {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        memory: Memory,
        in_flight: Budget,
        disk: Option<Arc<Disk>>,
        options: &Options,
    ) -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self {
            source,
            memory,
            flights: Arc::default(),
            in_flight,
            disk,
            counters: Counters::default(),
            turns: Semaphore::new(options.fetches_max),
            ahead_turns: Semaphore::new((options.fetches_max * 3 / 4).max(1)),
            again_turns: Semaphore::new(1),
            decode_turns: Semaphore::new(processors),
            disk_turns: Semaphore::new(options.fetches_max),
            gap_bytes_max: options.gap_bytes_max,
            fetch_bytes_max: options.fetch_bytes_max,
        }
    }

    /// Fetches the pieces in tasks of their own. Must run within a tokio runtime.
    pub(crate) fn start(self: &Arc<Self>, job: &Arc<Job>, leads: Vec<Lead>) {
        let (on_disk, missing) = match &self.disk {
            Some(disk) => leads.into_iter().partition(|lead| disk.holds(&lead.key, lead.piece.len)),
            None => (Vec::new(), leads),
        };
        // A disk seeks faster than a store answers, so gaps do not matter, and smaller portions start sooner.
        for run in coalesce(on_disk, |lead| lead.piece, u64::MAX, (self.fetch_bytes_max / 8).max(1)) {
            let (fetcher, job) = (Arc::clone(self), Arc::clone(job));
            task::spawn(async move { fetcher.run_disk(&job, run).await });
        }
        self.start_store(job, missing);
    }

    fn start_store(self: &Arc<Self>, job: &Arc<Job>, leads: Vec<Lead>) {
        for run in coalesce(leads, |lead| lead.piece, self.gap_bytes_max, self.fetch_bytes_max) {
            let (fetcher, job) = (Arc::clone(self), Arc::clone(job));
            task::spawn(async move { fetcher.run(&job, run).await });
        }
    }

    /// Reads pieces from the disk, as many at a time as there is memory for; those that are not there after all are
    /// fetched from the store.
    async fn run_disk(self: &Arc<Self>, job: &Arc<Job>, mut leads: Vec<Lead>) {
        let turn = self.disk_turns.acquire().await;
        let mut missing = Vec::new();
        while !leads.is_empty() {
            let (count, mut reservation) = self.afford(&leads).await;
            let rest = leads.split_off(count);
            let found = self.read_disk(&leads).await;
            for (lead, stored) in leads.into_iter().zip(found) {
                let memory = reservation.split(lead.piece.cost());
                match stored {
                    Some(stored) => {
                        add(&self.counters.disk_hits, 1);
                        self.finish_own(job, lead, stored, memory, Origin::Disk).await;
                    }
                    None => missing.push(lead),
                }
            }
            leads = rest;
        }
        drop(turn);
        self.start_store(job, missing);
    }

    /// The stored bytes of each piece that is on disk, in order.
    async fn read_disk(&self, leads: &[Lead]) -> Vec<Option<Bytes>> {
        let wanted: Vec<_> = leads.iter().map(|lead| (lead.key, lead.piece.len)).collect();
        let disk = self.disk.clone();
        let read = move || wanted.iter().map(|(key, len)| disk.as_ref()?.read(key, *len)).collect();
        task::spawn_blocking(read).await.unwrap_or_else(|_| vec![None; leads.len()])
    }

    /// Fetches adjoining pieces: with one GET when there is memory for all, else with several, one after the other.
    async fn run(self: &Arc<Self>, job: &Arc<Job>, mut leads: Vec<Lead>) {
        let ahead_turn = match job.ahead {
            Some(_) => self.ahead_turns.acquire().await.ok(),
            None => None,
        };
        let turn = self.turns.acquire().await;
        while !leads.is_empty() {
            let (count, reservation) = self.afford(&leads).await;
            let rest = leads.split_off(count);
            self.get(job, leads, reservation).await;
            leads = rest;
        }
        drop((turn, ahead_turn));
    }

    /// Takes the memory for as many of the first pieces as there is room for, waiting only for the very first.
    ///
    /// No more than half of all, so that one long run leaves room for others, and only a single piece goes over.
    async fn afford(&self, leads: &[Lead]) -> (usize, Reservation) {
        let cost = |count: usize| leads.iter().take(count).map(|lead| lead.piece.cost()).sum::<u64>();
        let cost_max = self.in_flight.bytes_max() / 2;
        let mut count = leads.len();
        while count > 1 {
            let cost = cost(count);
            if cost <= cost_max
                && let Some(reservation) = self.in_flight.try_reserve(cost)
            {
                return (count, reservation);
            }
            count /= 2;
        }
        (1, self.in_flight.reserve(cost(1)).await)
    }

    /// One GET. Each piece is decoded as soon as its bytes are there, while the rest is on its way.
    async fn get(self: &Arc<Self>, job: &Arc<Job>, leads: Vec<Lead>, mut reservation: Reservation) {
        let start = leads.first().map_or(0, |lead| lead.piece.offset);
        let end = leads.last().map_or(0, |lead| lead.piece.end());
        let mut body = match Body::get(&*self.source, &job.object, start..end).await {
            Ok(body) => body,
            Err(error) => return fail(leads, &error),
        };
        let mut leads = leads.into_iter();
        while let Some(lead) = leads.next() {
            let stored = match body.piece(&lead.piece).await {
                Ok(stored) => stored,
                Err(error) => {
                    fail(std::iter::once(lead).chain(leads), &error);
                    break;
                }
            };
            let memory = reservation.split(lead.piece.cost());
            self.finish_own(job, lead, stored, memory, Origin::Store).await;
        }
        add(&self.counters.fetched_bytes, body.received());
    }

    /// Finishes a small piece in place, and others in a task of their own.
    async fn finish_own(
        self: &Arc<Self>,
        job: &Arc<Job>,
        lead: Lead,
        stored: Bytes,
        memory: Reservation,
        from: Origin,
    ) {
        if decodes_inline(&lead.piece) {
            return self.finish(job, lead, stored, memory, from).await;
        }
        let (fetcher, job) = (Arc::clone(self), Arc::clone(job));
        task::spawn(async move { fetcher.finish(&job, lead, stored, memory, from).await });
    }

    /// Decodes what was fetched, keeps it, and tells those who wait.
    ///
    /// Corrupt bytes are fetched once more from the store; and if they came from the disk, once more again.
    async fn finish(&self, job: &Job, lead: Lead, stored: Bytes, mut memory: Reservation, from: Origin) {
        let mut for_disk = (self.disk.is_some() && from == Origin::Store).then(|| stored.clone());
        let mut answer = self.decode(job, &lead, stored).await;
        let tries = if from == Origin::Disk { 2 } else { 1 };
        for _ in 0..tries {
            let Err(error @ Error::Corrupt { .. }) = &answer else {
                break;
            };
            tracing::warn!(%error, ?from, "fetching a corrupt piece once more");
            if let Some(disk) = &self.disk {
                disk.remove(&lead.key);
            }
            // What was corrupt is not for the disk, whose own checksum would be that of the damage; nor for memory meanwhile.
            drop(for_disk.take());
            (for_disk, answer) = match self.again(job, &lead).await {
                Ok((stored, decoded)) => (Some(stored), Ok(decoded)),
                Err(error) => (None, Err(error)),
            };
        }
        if let Ok(decoded) = &answer {
            self.memory.insert(lead.key, decoded.clone());
            if let (Some(disk), Some(stored)) = (&self.disk, for_disk) {
                let room = memory.split(u64::from(lead.piece.len));
                disk.offer(lead.key, stored, room);
            }
        }
        drop(memory);
        lead.answer(answer);
    }

    /// Fetches and decodes one piece whose memory is held already: as stored, and decoded.
    async fn again(&self, job: &Job, lead: &Lead) -> Result<(Bytes, Bytes)> {
        let turn = self.again_turns.acquire().await;
        let range = lead.piece.offset..lead.piece.end();
        let mut body = Body::get(&*self.source, &job.object, range).await?;
        let stored = body.piece(&lead.piece).await;
        add(&self.counters.fetched_bytes, body.received());
        drop(turn);
        let stored = stored?;
        Ok((stored.clone(), self.decode(job, lead, stored).await?))
    }

    async fn decode(&self, job: &Job, lead: &Lead, stored: Bytes) -> Result<Bytes> {
        let index = lead.index;
        let decoded = if decodes_inline(&lead.piece) {
            decode_own(&*job.decode, index, stored)
        } else {
            let turn = self.decode_turns.acquire().await;
            let decode = Arc::clone(&job.decode);
            let decoded = task::spawn_blocking(move || decode_own(&*decode, index, stored)).await;
            drop(turn);
            decoded.map_err(|_| Error::Interrupted)?
        };
        decoded.map_err(|reason| Error::Corrupt { key: Arc::clone(&job.object.key), offset: lead.piece.offset, reason })
    }
}

fn decodes_inline(piece: &Piece) -> bool {
    piece.cost() <= INLINE_BYTES_MAX || piece.is_plain()
}

/// Decodes into bytes that keep no more memory than they are counted for.
fn decode_own(decode: &dyn Decode, index: usize, stored: Bytes) -> std::result::Result<Bytes, String> {
    let buffer = stored.as_ptr_range();
    let stored_len = stored.len() as u64;
    let decoded = decode.decode(index, stored)?;
    let shares = buffer.contains(&decoded.as_ptr());
    if shares && (decoded.len() as u64) + ENTRY_BYTES < stored_len {
        return Ok(Bytes::copy_from_slice(&decoded));
    }
    Ok(decoded)
}

fn fail(leads: impl IntoIterator<Item = Lead>, error: &Error) {
    for lead in leads {
        lead.answer(Err(error.clone()));
    }
}
