//! What is written down about a mount while it lives.

use serde::{Deserialize, Serialize};

/// A mount of this host, as its control directory describes it. Holds no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Where it is mounted.
    pub(crate) mountpoint: String,
    /// What is mounted: a URL, or a directory.
    pub(crate) store: String,
    /// The server of the store, if it is not its provider's own.
    pub(crate) endpoint: Option<String>,
    /// The process that serves it.
    pub(crate) pid: u32,
    /// When that process started, in clock ticks since boot.
    pub(crate) pid_started: u64,
    /// Who mounted it.
    pub(crate) uid: u32,
    /// When, RFC 3339.
    pub(crate) started: String,
    /// Whether it refuses changes.
    pub(crate) read_only: bool,
    /// Where it logs, if into a file.
    pub(crate) log: Option<String>,
    /// Where Prometheus may ask it for counts.
    #[serde(default)]
    pub(crate) metrics: Option<String>,
}

impl Record {
    /// Whether this user mounted it.
    pub(crate) fn is_own(&self) -> bool {
        self.uid == super::registry::uid()
    }

    /// Whether the process is still the one that wrote this.
    pub(crate) fn is_alive(&self) -> bool {
        stoa_process::started(self.pid) == Some(self.pid_started)
    }
}
