//! What a mount did: requests by kind, how long they took, and the bytes they moved.

mod histogram;

pub use histogram::Times;

use histogram::Histogram;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stoa_wire_fuse::opcode;

/// Counters of a mount. They are only ever added to, without order between them.
#[derive(Debug)]
pub struct OpStats {
    ops: [Counter; opcode::COUNT as usize],
    in_flight: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Counter {
    errors: AtomicU64,
    times: Histogram,
}

/// What was counted of one kind of request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpCount {
    /// The kind, as FUSE calls it, in lower case.
    pub op: &'static str,
    /// How many were answered with an error; looking up a name that is not there is one, unless the kernel may remember it.
    pub errors: u64,
    /// How long each took, from having read the request to answering it. As many as were answered.
    pub times: Times,
}

impl Default for OpStats {
    fn default() -> Self {
        Self {
            ops: std::array::from_fn(|_| Counter::default()),
            in_flight: AtomicU64::new(0),
            read_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
        }
    }
}

impl OpStats {
    /// The kinds of request that occurred.
    #[must_use]
    pub fn counts(&self) -> Vec<OpCount> {
        let one = |(opcode, counter): (u32, &Counter)| OpCount {
            op: opcode::name(opcode),
            errors: counter.errors.load(Ordering::Relaxed),
            times: counter.times.times(),
        };
        (0..).zip(&self.ops).map(one).filter(|op| op.times.count() > 0).collect()
    }

    /// How many requests wait for the store now, beyond those a worker thread is busy with.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Bytes of files that READ was answered with: what the kernel had cached is not among them.
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of files that WRITE brought.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn answered(&self, opcode: u32, failed: bool, took: Duration) {
        let Some(counter) = self.ops.get(opcode as usize) else { return };
        counter.times.add(took);
        if failed {
            counter.errors.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self, bytes: usize) {
        self.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn written(&self, bytes: u32) {
        self.written_bytes.fetch_add(u64::from(bytes), Ordering::Relaxed);
    }

    pub(crate) fn waits(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn waited(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
