//! Directories that are known whole: a name that is not among theirs does not exist, and nobody has to ask the store.
//!
//! That is what makes new names cheap: every one of them is first looked for, and a key that is not there is what a
//! key-value store takes longest to find.

use crate::record::Bucket;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_vfs::Ino;

/// What a hash takes in a set, roughly, in bytes.
const HASH_BYTES: u64 = 18;

/// What a set takes beside its hashes.
const SET_BYTES: u64 = 192;

/// The hashes of all names of some directories. What is about a directory changes only under the exclusive lock of its inode.
#[derive(Debug)]
pub(super) struct Whole(Cache<Ino, Known, Weigh>);

/// The hashes of all names of one directory.
#[derive(Debug, Clone)]
struct Known {
    hashes: Arc<Mutex<HashSet<u64>>>,
    /// Bytes, when it was put into the cache.
    weight: u64,
}

#[derive(Debug, Clone)]
struct Weigh;

impl Weighter<Ino, Known> for Weigh {
    fn weight(&self, _: &Ino, known: &Known) -> u64 {
        known.weight
    }
}

impl Known {
    fn new(hashes: HashSet<u64>) -> Self {
        let weight = weight_of(&hashes);
        Self { hashes: Arc::new(Mutex::new(hashes)), weight }
    }
}

fn weight_of(hashes: &HashSet<u64>) -> u64 {
    SET_BYTES + HASH_BYTES * u64::try_from(hashes.capacity()).unwrap_or(u64::MAX)
}

impl Whole {
    pub(super) fn new(memory_bytes: u64) -> Self {
        let directories = usize::try_from(memory_bytes / (4 * SET_BYTES)).unwrap_or(usize::MAX).max(64);
        Self(Cache::with_weighter(directories, memory_bytes, Weigh))
    }

    /// From now on `directory` is known whole, with names of these hashes. Its lock is held, or nobody knows of it yet.
    pub(super) fn know(&self, directory: Ino, hashes: HashSet<u64>) {
        self.0.insert(directory, Known::new(hashes));
    }

    /// Whether all names of `directory` are known.
    pub(super) fn knows(&self, directory: Ino) -> bool {
        self.0.contains_key(&directory)
    }

    /// Whether it is certain that `directory` has no name with `hash`. Its lock is held.
    pub(super) fn lacks(&self, directory: Ino, hash: u64) -> bool {
        self.0.get(&directory).is_some_and(|known| !known.hashes.lock().contains(&hash))
    }

    /// Keeps up with a change of `bucket`, which has the names of `directory` with `hash`. Its exclusive lock is held.
    pub(super) fn changed(&self, directory: Ino, hash: u64, bucket: &Bucket) {
        let Some(Known { hashes, weight: before }) = self.0.get(&directory) else { return };
        let weight = {
            let mut known = hashes.lock();
            if bucket.dentries.is_empty() {
                known.remove(&hash);
            } else {
                known.insert(hash);
            }
            weight_of(&known)
        };
        if weight != before {
            self.0.insert(directory, Known { hashes, weight });
        }
    }
}

#[cfg(test)]
mod tests;
