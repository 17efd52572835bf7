//! A result of any length in JSON.

use super::{line, live_line};
use serde_json::Value;

/// An array that is printed as it comes. Once begun it is ended when this is dropped, also by a failure: it is JSON whatever happens.
#[derive(Debug, Default)]
pub(crate) struct JsonList {
    begun: bool,
}

impl JsonList {
    /// Prints an element; whether anybody reads on.
    pub(crate) fn push(&mut self, value: &Value) -> bool {
        let before = if std::mem::replace(&mut self.begun, true) { "," } else { "[" };
        live_line(format_args!("{before}\n  {value}"))
    }

    /// Ends it, where nothing was printed, too.
    pub(crate) fn end(self) {
        if !self.begun {
            line("[]");
        }
    }
}

impl Drop for JsonList {
    fn drop(&mut self) {
        if self.begun {
            line("]");
        }
    }
}
