//! Requests whose caller may get tired of waiting.

use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use tokio::sync::oneshot;

#[cfg(test)]
mod tests;

/// How many interrupts are remembered whose request is not known.
const EARLY_MAX: usize = 64;

/// The requests that wait and may be interrupted.
#[derive(Debug, Default)]
pub(crate) struct Interrupts(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    waiting: HashMap<u64, oneshot::Sender<()>>,
    /// Interrupts that came before their request was seen to wait: another worker read them meanwhile. Most are of requests
    /// that were answered or can't be interrupted, and are pushed out by later ones; numbers do not come again.
    early: VecDeque<u64>,
}

impl Interrupts {
    /// Says that request `unique` waits. What is returned resolves when it is interrupted.
    pub(crate) fn wait(&self, unique: u64) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut inner = self.0.lock();
        if inner.early.contains(&unique) {
            inner.early.retain(|&early| early != unique);
            // The receiver is in our hands, so this can't fail.
            let _ = sender.send(());
        } else {
            inner.waiting.insert(unique, sender);
        }
        receiver
    }

    /// Says that it waits no more.
    pub(crate) fn done(&self, unique: u64) {
        self.0.lock().waiting.remove(&unique);
    }

    /// Interrupts it.
    pub(crate) fn interrupt(&self, unique: u64) {
        let mut inner = self.0.lock();
        if let Some(sender) = inner.waiting.remove(&unique) {
            // A receiver that is gone belongs to a request that is being answered.
            let _ = sender.send(());
        } else {
            inner.early.truncate(EARLY_MAX - 1);
            inner.early.push_front(unique);
        }
    }
}
