//! Work on many files at once, and what may be done only after it.

use std::collections::{BTreeSet, VecDeque};
use tokio::task::JoinSet;

/// Jobs that run at once, a limited number of them; and others that wait until all that were begun before them are done.
#[derive(Debug)]
pub(crate) struct Jobs<L> {
    running: JoinSet<u64>,
    numbers: BTreeSet<u64>,
    next: u64,
    limit: usize,
    /// Each with the first job that it need not wait for.
    later: VecDeque<(u64, L)>,
    /// Jobs that ended without being done.
    pub(crate) lost: u64,
}

impl<L> Jobs<L> {
    pub(crate) fn new(limit: usize) -> Self {
        let (running, numbers, later) = (JoinSet::new(), BTreeSet::new(), VecDeque::new());
        Self { running, numbers, next: 0, limit: limit.max(1), later, lost: 0 }
    }

    /// Starts a job when there is room for it.
    pub(crate) async fn start(&mut self, job: impl Future<Output = ()> + Send + 'static) {
        while self.running.len() >= self.limit {
            self.one().await;
        }
        let number = self.next;
        self.next += 1;
        self.numbers.insert(number);
        self.running.spawn(async move {
            job.await;
            number
        });
    }

    /// Keeps `what` until the jobs that were started before are done.
    pub(crate) fn later(&mut self, what: L) {
        self.later.push_back((self.next, what));
    }

    /// What need not wait any longer.
    pub(crate) fn due(&mut self) -> Option<L> {
        let oldest = self.numbers.first().copied().unwrap_or(self.next);
        self.later.pop_front_if(|(after, _)| *after <= oldest).map(|(_, what)| what)
    }

    /// Waits for one job to end; `false` if none runs.
    pub(crate) async fn one(&mut self) -> bool {
        match self.running.join_next().await {
            Some(Ok(number)) => self.numbers.remove(&number),
            // It has no number: what waits for it waits until the end, when nothing runs any more.
            Some(Err(_)) => {
                self.lost += 1;
                true
            }
            None => {
                self.numbers.clear();
                false
            }
        }
    }
}
