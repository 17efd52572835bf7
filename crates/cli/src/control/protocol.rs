//! What is said over a control socket.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest request, in bytes.
pub(crate) const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// The longest reply, in bytes.
pub(crate) const REPLY_BYTES_MAX: u64 = 64 << 20;
/// How often a reply comes at least while a request is under way, in seconds: whoever waits can tell slow from dead.
pub(crate) const HEARTBEAT_SECS: u64 = 5;

/// What a command asks of a mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(crate) enum Request {
    /// How are you?
    Status,
    /// What have you counted? Answered with a `Snapshot`.
    Metrics,
    /// How fast is the store behind you? Answered with `StoreFigures`; nothing is left in the store, also if the asker goes.
    Bench {
        /// Bytes to move each way.
        bytes: u64,
    },
    /// Make everything durable.
    Sync,
    /// Check the volume.
    Fsck {
        /// Its data too.
        data: bool,
        /// And mend it.
        repair: bool,
    },
    /// Delete what is dead.
    Gc,
    /// Where are the bytes of this inode?
    Info {
        /// Its number.
        ino: u64,
    },
    /// Answer once the volume is closed. Does not unmount: that is asked of the kernel.
    ShutdownWait,
}

/// One line of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    /// Under way: `done` of `total` steps of `stage`.
    Progress {
        /// What is being done.
        stage: String,
        /// Steps done.
        done: u64,
        /// Of how many; 0 if not known.
        total: u64,
    },
    /// Done: the last line.
    Done(Value),
    /// Not done, and why: the last line.
    Failed(String),
}
