//! What a mount did: requests by kind, and how long they took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stoa_wire_fuse::opcode;

/// Counters of a mount. They are only ever added to, without order between them.
#[derive(Debug)]
pub struct OpStats {
    ops: [Counter; opcode::COUNT as usize],
    in_flight: AtomicU64,
}

#[derive(Debug, Default)]
struct Counter {
    count: AtomicU64,
    errors: AtomicU64,
    nanos: AtomicU64,
}

/// What was counted of one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpCount {
    /// The kind, as FUSE calls it, in lower case.
    pub op: &'static str,
    /// How many were answered.
    pub count: u64,
    /// How many of them with an error; looking up a name that is not there is one, unless the kernel may remember it.
    pub errors: u64,
    /// From having read the request to answering it, all added up.
    pub total: Duration,
}

impl Default for OpStats {
    fn default() -> Self {
        Self { ops: std::array::from_fn(|_| Counter::default()), in_flight: AtomicU64::new(0) }
    }
}

impl OpStats {
    /// The kinds of request that occurred.
    #[must_use]
    pub fn counts(&self) -> Vec<OpCount> {
        let one = |(opcode, counter): (u32, &Counter)| OpCount {
            op: opcode::name(opcode),
            count: counter.count.load(Ordering::Relaxed),
            errors: counter.errors.load(Ordering::Relaxed),
            total: Duration::from_nanos(counter.nanos.load(Ordering::Relaxed)),
        };
        (0..).zip(&self.ops).map(one).filter(|op| op.count > 0).collect()
    }

    /// How many requests wait for the store now, beyond those a worker thread is busy with.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) fn answered(&self, opcode: u32, failed: bool, took: Duration) {
        let Some(counter) = self.ops.get(opcode as usize) else { return };
        counter.count.fetch_add(1, Ordering::Relaxed);
        counter.errors.fetch_add(u64::from(failed), Ordering::Relaxed);
        counter.nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn waits(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn waited(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
