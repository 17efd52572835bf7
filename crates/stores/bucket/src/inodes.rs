//! Inodes: those that the kernel refers to.

use crate::found::{Found, Looks, Target};
use crate::listing::Listing;
use parking_lot::Mutex;
use siphasher::sip::SipHasher13;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stoa_vfs::{Attr, Entry, Error, Ino, Result};

/// Numbers that fit into a signed 64-bit one: some programs count in those.
const NUMBER_MAX: u64 = u64::MAX >> 1;

/// The first number that is not the root's.
const NUMBER_MIN: u64 = Ino::ROOT.0 + 1;

/// An inode that is referred to.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) ino: Ino,
    pub(crate) target: Target,
    /// What is known of its entries, if it is a directory.
    pub(crate) listing: Listing,
    looks: Mutex<Looks>,
    stale: AtomicBool,
}

/// The inodes that the kernel refers to, and the numbers of all others.
///
/// A number is a hash of what the inode is of, so it is the same when the kernel has forgotten it meanwhile, and before it ever
/// knew it. When two that are referred to at the same time have the same hash, the second takes the next number that is free.
#[derive(Debug)]
pub(crate) struct Inodes {
    root: Arc<Node>,
    referred: Mutex<HashMap<Ino, Referred>>,
}

#[derive(Debug)]
struct Referred {
    node: Arc<Node>,
    count: u64,
}

impl Node {
    fn new(ino: Ino, found: &Found) -> Arc<Self> {
        Arc::new(Self {
            ino,
            target: found.target.clone(),
            listing: Listing::default(),
            looks: Mutex::new(found.looks.clone()),
            stale: AtomicBool::new(false),
        })
    }

    pub(crate) fn attr(&self) -> Attr {
        self.looks.lock().attr(self.ino)
    }

    /// Whether the store no longer has it, as a read found out.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    pub(crate) fn went_stale(&self) {
        self.stale.store(true, Ordering::Relaxed);
    }
}

impl Inodes {
    pub(crate) fn new(root: &Found) -> Self {
        Self { root: Node::new(Ino::ROOT, root), referred: Mutex::default() }
    }

    /// The inode of a number.
    ///
    /// # Errors
    /// [`Error::Stale`] if nobody refers to it.
    pub(crate) fn get(&self, ino: Ino) -> Result<Arc<Node>> {
        if ino == Ino::ROOT {
            return Ok(Arc::clone(&self.root));
        }
        self.referred.lock().get(&ino).map(|it| Arc::clone(&it.node)).ok_or(Error::Stale)
    }

    /// Hands out a reference to what was found just now.
    pub(crate) fn hand_out(&self, found: &Found) -> Entry {
        if found.target == self.root.target {
            return Entry { attr: self.root.attr() };
        }
        let mut referred = self.referred.lock();
        let ino = number(&found.target, |ino| referred.get(&ino).map(|it| Arc::clone(&it.node)));
        let it = referred.entry(ino).or_insert_with(|| Referred { node: Node::new(ino, found), count: 0 });
        it.count += 1;
        *it.node.looks.lock() = found.looks.clone();
        Entry { attr: found.looks.attr(ino) }
    }

    /// Hands out another reference to an inode that is referred to.
    pub(crate) fn again(&self, ino: Ino) -> Result<Entry> {
        let node = self.get(ino)?;
        if let Some(it) = self.referred.lock().get_mut(&ino) {
            it.count += 1;
        }
        Ok(Entry { attr: node.attr() })
    }

    /// The number that an inode has or would have.
    pub(crate) fn number(&self, target: &Target) -> Ino {
        if *target == self.root.target {
            return Ino::ROOT;
        }
        let referred = self.referred.lock();
        number(target, |ino| referred.get(&ino).map(|it| Arc::clone(&it.node)))
    }

    /// Whether the kernel refers to `target`, and it is known to be gone.
    pub(crate) fn is_stale(&self, target: &Target) -> bool {
        self.get(self.number(target)).is_ok_and(|node| node.is_stale())
    }

    /// The store still has it, or has it again.
    pub(crate) fn is_there(&self, target: &Target) {
        if let Ok(node) = self.get(self.number(target)) {
            node.stale.store(false, Ordering::Relaxed);
        }
    }

    /// Takes `count` references back.
    pub(crate) fn forget(&self, ino: Ino, count: u64) {
        let mut referred = self.referred.lock();
        if let Some(it) = referred.get_mut(&ino) {
            it.count = it.count.saturating_sub(count);
            if it.count == 0 {
                referred.remove(&ino);
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        1 + self.referred.lock().len() as u64
    }
}

/// The number of `target`: its hash, or the next that no other target has.
fn number(target: &Target, of: impl Fn(Ino) -> Option<Arc<Node>>) -> Ino {
    let mut hasher = SipHasher13::new();
    target.hash(&mut hasher);
    let mut number = (hasher.finish() & NUMBER_MAX).max(NUMBER_MIN);
    while of(Ino(number)).is_some_and(|node| node.target != *target) {
        number = if number == NUMBER_MAX { NUMBER_MIN } else { number + 1 };
    }
    Ino(number)
}

#[cfg(test)]
mod tests;
