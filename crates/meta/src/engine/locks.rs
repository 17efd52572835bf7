//! Locks of inodes.
//!
//! An operation takes all the locks it needs in one call, and no second set while it holds one: so none can wait in a circle.

use stoa_vfs::Ino;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Inodes share this many locks: enough that two unrelated operations seldom meet.
const STRIPES: usize = 1024;

/// A lock for every inode.
#[derive(Debug)]
pub(super) struct Locks(Vec<RwLock<()>>);

impl Locks {
    pub(super) fn new() -> Self {
        Self((0..STRIPES).map(|_| RwLock::new(())).collect())
    }

    /// Locks `inodes` for changing, until the result is dropped.
    pub(super) async fn exclusive(&self, inodes: &[Ino]) -> Vec<RwLockWriteGuard<'_, ()>> {
        let mut held = Vec::with_capacity(inodes.len());
        for stripe in self.stripes(inodes) {
            held.push(stripe.write().await);
        }
        held
    }

    /// Locks `inodes` against changing, until the result is dropped.
    pub(super) async fn shared(&self, inodes: &[Ino]) -> Vec<RwLockReadGuard<'_, ()>> {
        let mut held = Vec::with_capacity(inodes.len());
        for stripe in self.stripes(inodes) {
            held.push(stripe.read().await);
        }
        held
    }

    /// The locks of `inodes`, each once, always in the same order.
    fn stripes(&self, inodes: &[Ino]) -> impl Iterator<Item = &RwLock<()>> {
        // A multiplicative hash spreads numbers that come in regular steps.
        let stripe = |ino: &Ino| ino.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - STRIPES.trailing_zeros());
        let mut wanted: Vec<usize> = inodes.iter().filter_map(|ino| usize::try_from(stripe(ino)).ok()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.into_iter().filter_map(|index| self.0.get(index))
    }
}
