//! A share of memory that is taken before it is used.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A number of bytes that many users share. Clones share it too.
///
/// Who waits is served in the order of arrival, so a large reservation is not starved by small ones. Never wait for a
/// reservation while holding one of the same budget: two who do so can wait for each other.
#[derive(Debug, Clone)]
pub struct Budget {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    bytes_max: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    next_id: u64,
    queue: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    bytes: u64,
    grant: oneshot::Sender<Reservation>,
}

impl Budget {
    /// A budget of so many bytes, all free.
    #[must_use]
    pub fn new(bytes_max: u64) -> Self {
        let state = Mutex::new(State::default());
        Self { shared: Arc::new(Shared { bytes_max, state }) }
    }

    /// Takes so many bytes, waiting until they are free and everyone who came before has been served.
    ///
    /// More than the whole budget is granted too, alone: once nothing else is taken. Dropping the future leaves the
    /// queue.
    pub async fn reserve(&self, bytes: u64) -> Reservation {
        let (waiter, id) = {
            let mut state = self.shared.state.lock();
            if state.queue.is_empty() && self.shared.fits(&state, bytes) {
                state.used = state.used.saturating_add(bytes);
                return self.grant(bytes);
            }
            let id = state.next_id;
            state.next_id += 1;
            let (grant, waiter) = oneshot::channel();
            state.queue.push_back(Waiter { id, bytes, grant });
            (waiter, id)
        };
        let _place = Place { shared: &self.shared, id };
        match waiter.await {
            Ok(reservation) => reservation,
            // A waiter is only ever dropped by its own `Place` or after an answer, so this is out of reach; an empty
            // reservation is an answer that can do no harm.
            Err(_) => self.grant(0),
        }
    }

    /// Takes so many bytes if they are free and nobody waits.
    #[must_use]
    pub fn try_reserve(&self, bytes: u64) -> Option<Reservation> {
        let mut state = self.shared.state.lock();
        if !state.queue.is_empty() || !self.shared.fits(&state, bytes) {
            return None;
        }
        state.used = state.used.saturating_add(bytes);
        Some(self.grant(bytes))
    }

    /// How many bytes are taken.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.shared.state.lock().used
    }

    /// How many bytes there are.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.shared.bytes_max
    }

    fn grant(&self, bytes: u64) -> Reservation {
        Reservation { shared: Arc::clone(&self.shared), bytes }
    }
}

impl Shared {
    fn fits(&self, state: &State, bytes: u64) -> bool {
        state.used == 0 || state.used.saturating_add(bytes) <= self.bytes_max
    }

    /// Changes the state, then serves those at the head of the queue for whom there is room now.
    fn change(self: &Arc<Self>, change: impl FnOnce(&mut State)) {
        let mut granted = Vec::new();
        {
            let mut state = self.state.lock();
            change(&mut state);
            while state.queue.front().is_some_and(|first| self.fits(&state, first.bytes)) {
                let Some(first) = state.queue.pop_front() else {
                    break;
                };
                state.used = state.used.saturating_add(first.bytes);
                granted.push(first);
            }
        }
        // Outside the lock: a waiter who has just gone away hands the reservation back, and its drop comes here again.
        for Waiter { bytes, grant, .. } in granted {
            drop(grant.send(Reservation { shared: Arc::clone(self), bytes }));
        }
    }
}

/// A place in the queue, left when dropped. Those behind may fit once a large request has gone.
struct Place<'a> {
    shared: &'a Arc<Shared>,
    id: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.shared.change(|state| state.queue.retain(|waiter| waiter.id != self.id));
    }
}

/// Bytes taken from a [`Budget`], given back when dropped.
#[derive(Debug)]
#[must_use = "dropping a reservation gives it back"]
pub struct Reservation {
    shared: Arc<Shared>,
    bytes: u64,
}

impl Reservation {
    /// How many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives back all but `bytes`. It never grows: with more than it holds, nothing happens.
    pub fn shrink(&mut self, bytes: u64) {
        let freed = self.bytes.saturating_sub(bytes);
        if freed > 0 {
            self.bytes = bytes;
            self.shared.change(|state| state.used = state.used.saturating_sub(freed));
        }
    }

    /// Takes `bytes` of it, or as many as it holds, as a reservation of their own.
    pub fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { shared: Arc::clone(&self.shared), bytes }
    }

    /// Makes two into one.
    ///
    /// # Errors
    /// Gives `other` back when it is of another budget.
    pub fn merge(&mut self, mut other: Self) -> Result<(), Self> {
        if !Arc::ptr_eq(&self.shared, &other.shared) {
            return Err(other);
        }
        self.bytes = self.bytes.saturating_add(std::mem::take(&mut other.bytes));
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests;
