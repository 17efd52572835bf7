//! A mount that another one has shut out (`--take-over`): it never stores anything again.

use crate::control::{Connection, Record, Request, Wait};
use crate::output;
use serde_json::Value;
use std::path::Path;

/// What a mount holds that it can't store any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShutOut {
    dirty_bytes: u64,
    operations: u64,
}

/// Asks a mount whether it was shut out. One that does not answer is not known to be.
pub(super) fn ask(record: &Record, socket: &Path) -> Option<ShutOut> {
    let asked = Connection::open(record, socket, &Request::Status, Wait::Briefly).ok()?;
    ShutOut::read(&asked.result(|_, _, _| {}).ok()?)
}

impl ShutOut {
    /// What `status` says of it, if it does.
    fn read(status: &Value) -> Option<Self> {
        let volume = status.get("volume")?;
        volume.get("fenced")?.as_str()?;
        let number = |field| volume.get(field).and_then(Value::as_u64).unwrap_or(0);
        Some(Self { dirty_bytes: number("dirty_bytes"), operations: number("uncommitted_operations") })
    }

    /// What is the matter with it, and what that costs.
    pub(super) fn text(self) -> String {
        let taken = "another mount has taken its volume over";
        match self {
            // The kernel may have had pages for it, which nobody counted.
            Self { dirty_bytes: 0, operations: 0 } => format!("{taken}, so it can't store anything any more"),
            Self { dirty_bytes, operations } => {
                let unstored = output::unstored(dirty_bytes, operations);
                format!("{taken}, so {unstored} that it had not stored are lost")
            }
        }
    }
}

#[cfg(test)]
mod tests;
