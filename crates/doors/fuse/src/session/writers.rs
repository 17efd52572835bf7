//! Files that are open for writing: only of these can the kernel hold written pages.

use parking_lot::Mutex;
use std::collections::HashMap;
use stoa_vfs::{Handle, Ino};

/// The handles that may be written.
#[derive(Debug, Default)]
pub(crate) struct Writers(Mutex<HashMap<Handle, Ino>>);

impl Writers {
    /// Notes an open file.
    pub(crate) fn opened(&self, ino: Ino, handle: Handle, writable: bool) {
        if writable {
            self.0.lock().insert(handle, ino);
        }
    }

    /// Notes that it was closed, and no mapping of it is left.
    pub(crate) fn released(&self, handle: Handle) {
        self.0.lock().remove(&handle);
    }

    /// Whether anyone may have written to the file without its pages having come here.
    pub(crate) fn has(&self, ino: Ino) -> bool {
        self.0.lock().values().any(|written| *written == ino)
    }
}
