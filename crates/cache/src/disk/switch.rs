//! Switching off what fails, and trying again later.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The longest time between two tries.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// On until something fails; then off for a while that doubles with each failure, until something works again.
#[derive(Debug)]
pub(crate) struct Switch {
    what: &'static str,
    wait_first: Duration,
    off: Mutex<Option<Off>>,
}

#[derive(Debug)]
struct Off {
    until: Instant,
    wait: Duration,
    reason: String,
}

impl Switch {
    /// A switch that is on; `what` names what it switches, for the log.
    pub(crate) fn new(what: &'static str, wait_first: Duration) -> Self {
        Self { what, wait_first, off: Mutex::new(None) }
    }

    /// Whether to try: it is on, or it has been off long enough.
    pub(crate) fn allows(&self) -> bool {
        self.off.lock().as_ref().is_none_or(|off| Instant::now() >= off.until)
    }

    /// It failed. Only the first failure after a success is worth a warning.
    pub(crate) fn fail(&self, error: &std::io::Error) {
        let mut off = self.off.lock();
        let wait = off.as_ref().map_or(self.wait_first, |off| (off.wait * 2).min(WAIT_MAX));
        let reason = format!("{}: {error}", self.what);
        if off.is_none() {
            tracing::warn!(%reason, retry_s = wait.as_secs(), "the disk cache is switched off for a while");
        }
        *off = Some(Off { until: Instant::now() + wait, wait, reason });
    }

    /// It worked.
    pub(crate) fn succeed(&self) {
        if let Some(off) = self.off.lock().take() {
            tracing::info!(after = off.reason, "the disk cache works again");
        }
    }

    /// Why it is off, if it is.
    pub(crate) fn reason(&self) -> Option<String> {
        self.off.lock().as_ref().map(|off| off.reason.clone())
    }
}
