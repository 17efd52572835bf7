//! The open files of a store.

use crate::{Error, Handle, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a store keeps of each open file, by the handle it gave out. Never blocks for long.
#[derive(Debug)]
pub struct Handles<T> {
    open: Mutex<HashMap<Handle, Arc<T>>>,
    next: AtomicU64,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self { open: Mutex::default(), next: AtomicU64::default() }
    }
}

impl<T> Handles<T> {
    /// Gives out a handle that none had before.
    pub fn add(&self, open: T) -> Handle {
        let handle = Handle(self.next.fetch_add(1, Ordering::Relaxed));
        self.open.lock().insert(handle, Arc::new(open));
        handle
    }

    /// The open file of a handle.
    ///
    /// # Errors
    /// [`Error::BadHandle`].
    pub fn get(&self, handle: Handle) -> Result<Arc<T>> {
        self.open.lock().get(&handle).cloned().ok_or(Error::BadHandle)
    }

    /// Takes a handle back; returns its file, unless it was taken back before.
    pub fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        self.open.lock().remove(&handle)
    }
}
