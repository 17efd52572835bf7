//! Fetches under way, so that all who want a piece share one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::memory::Memory;
use crate::object::{Key, Piece};
use crate::{Error, Result};

type Answer = Option<Result<Bytes>>;

/// The pieces that are being fetched.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    under_way: Mutex<HashMap<Key, watch::Receiver<Answer>>>,
}

/// What became of asking for a piece.
pub(crate) enum Ask {
    /// It is in memory after all.
    Found(Bytes),
    /// Someone is fetching it.
    Wait(Wait),
    /// Nobody is: the asker has to, and others wait for it.
    Lead(Lead, Wait),
}

impl Flights {
    /// Looks for the piece in memory and among the fetches, and starts a fetch when it is in neither.
    ///
    /// `index` is the piece's place in what the asker's decoder knows.
    pub(crate) fn ask(self: &Arc<Self>, memory: &Memory, key: Key, piece: Piece, index: usize) -> Ask {
        let mut under_way = self.under_way.lock();
        match under_way.entry(key) {
            Entry::Occupied(flight) => Ask::Wait(Wait(flight.get().clone())),
            Entry::Vacant(vacant) => {
                // A fetch puts the piece in memory before it leaves the map, so this look under the lock cannot miss it.
                if let Some(decoded) = memory.get(&key) {
                    return Ask::Found(decoded);
                }
                let (sender, receiver) = watch::channel(None);
                vacant.insert(receiver.clone());
                let flights = Some(Arc::clone(self));
                Ask::Lead(Lead { key, piece, index, sender, flights }, Wait(receiver))
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.under_way.lock().len()
    }

    /// Whether the piece is being fetched.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.under_way.lock().contains_key(key)
    }
}

/// The duty to fetch one piece. Dropped without an answer, it tells those who wait that there is none.
#[derive(Debug)]
pub(crate) struct Lead {
    pub(crate) key: Key,
    pub(crate) piece: Piece,
    pub(crate) index: usize,
    sender: watch::Sender<Answer>,
    /// Where it is to be found until it ends.
    flights: Option<Arc<Flights>>,
}

impl Lead {
    /// Gives everyone who waits the answer. Put the piece in memory first.
    pub(crate) fn answer(mut self, answer: Result<Bytes>) {
        // First: who is told of a failure, and asks again, must not be given the same answer.
        self.end();
        // Nobody may be waiting: a prefetch, or the readers went away.
        drop(self.sender.send(Some(answer)));
    }

    /// Once: the next one with the same key is another's.
    fn end(&mut self) {
        if let Some(flights) = self.flights.take() {
            flights.under_way.lock().remove(&self.key);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.end();
    }
}

/// One who waits for a piece.
#[derive(Debug)]
pub(crate) struct Wait(watch::Receiver<Answer>);

impl Wait {
    /// Waits for the answer. Dropping the future changes nothing for the others.
    pub(crate) async fn answer(mut self) -> Result<Bytes> {
        match self.0.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone().unwrap_or(Err(Error::Interrupted)),
            Err(_) => Err(Error::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    /// Notes whether the fetch is still to be found when its end is told.
    struct Told {
        flights: Arc<Flights>,
        key: Key,
        found: AtomicBool,
    }

    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.found.store(self.flights.contains(&self.key), Ordering::SeqCst);
        }
    }

    #[test]
    fn who_is_told_of_a_failure_can_ask_again_at_once() {
        let (flights, memory) = (Arc::new(Flights::default()), Memory::new(1 << 20).unwrap());
        let (key, piece) = ((7, 0), Piece { offset: 0, len: 10, weight: 10 });
        let Ask::Lead(lead, wait) = flights.ask(&memory, key, piece, 0) else { panic!("somebody else fetches it") };
        let told = Arc::new(Told { flights: Arc::clone(&flights), key, found: AtomicBool::new(true) });
        let waker = Waker::from(Arc::clone(&told));
        let mut answer = pin!(wait.answer());
        assert!(answer.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        lead.answer(Err(Error::Interrupted));
        assert!(!told.found.load(Ordering::SeqCst), "it is still there");
        assert!(matches!(answer.poll(&mut Context::from_waker(&waker)), Poll::Ready(Err(_))));
    }
}
