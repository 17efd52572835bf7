//! What goes wrong with the server, on demand.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum S3Fault {
    /// It is answered with this status and an S3 error, and has no effect.
    Status(u16),
    /// It takes effect, and is answered with this status.
    StatusAfter(u16),
    /// It waits this long first.
    Delay(Duration),
    /// The connection is closed before it takes effect.
    Drop,
    /// It takes effect, and the connection is closed without an answer.
    DropAfter,
    /// The connection is closed in the middle of the answer's body.
    CutBody,
    /// It is answered with 200 and an `InternalError` in the body, and has no effect.
    OkWithError,
}

/// The faults of a server. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct S3Faults {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    script: Mutex<VecDeque<Scripted>>,
    each: Mutex<Vec<Scripted>>,
    every: Mutex<Option<S3Fault>>,
    requests: AtomicU64,
    toll: AtomicBool,
}

#[derive(Debug)]
struct Scripted {
    method: &'static str,
    part_of_target: String,
    fault: S3Fault,
}

impl Scripted {
    fn meets(&self, method: &str, target: &str) -> bool {
        self.method == method && target.contains(&self.part_of_target)
    }
}

impl S3Faults {
    /// Has the next request of this method (`"PUT"`), whose path and query contain `part_of_target`, meet `fault`.
    pub fn next(&self, method: &'static str, part_of_target: impl Into<String>, fault: S3Fault) {
        let scripted = Scripted { method, part_of_target: part_of_target.into(), fault };
        self.shared.script.lock().push_back(scripted);
    }

    /// Has each request of this method, whose path and query contain `part_of_target`, meet `fault`, until
    /// [`S3Faults::end_each`].
    pub fn each(&self, method: &'static str, part_of_target: impl Into<String>, fault: S3Fault) {
        let scripted = Scripted { method, part_of_target: part_of_target.into(), fault };
        self.shared.each.lock().push(scripted);
    }

    /// Ends what [`S3Faults::each`] began.
    pub fn end_each(&self) {
        self.shared.each.lock().clear();
    }

    /// Has every request meet `fault`, until it is set to `None`.
    pub fn every(&self, fault: Option<S3Fault>) {
        *self.shared.every.lock() = fault;
    }

    /// Has every request refused (403) that does not say that the requester pays, from now on or no more.
    pub fn toll(&self, demanded: bool) {
        self.shared.toll.store(demanded, Ordering::Relaxed);
    }

    /// How many requests have come in.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// How many scripted faults have not been met yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.shared.script.lock().len()
    }

    pub(super) fn take(&self, method: &str, target: &str, pays: bool) -> Option<S3Fault> {
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        if !pays && self.shared.toll.load(Ordering::Relaxed) {
            return Some(S3Fault::Status(403));
        }
        if let Some(fault) = *self.shared.every.lock() {
            return Some(fault);
        }
        if let Some(each) = self.shared.each.lock().iter().find(|it| it.meets(method, target)) {
            return Some(each.fault);
        }
        let mut script = self.shared.script.lock();
        let at = script.iter().position(|it| it.meets(method, target))?;
        script.remove(at).map(|scripted| scripted.fault)
    }
}
