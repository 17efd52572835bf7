//! Who still uses an inode that has no name any more.

use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use stoa_vfs::Ino;

/// References that doors hold, and open handles, by inode; and the inodes that wait for theirs to go.
#[derive(Debug, Default)]
pub(crate) struct References(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    counts: HashMap<Ino, u64>,
    unlinked: HashSet<Ino>,
}

impl References {
    /// Adds a reference.
    pub(crate) fn add(&self, ino: Ino) {
        *self.0.lock().counts.entry(ino).or_default() += 1;
    }

    /// Takes `count` references back; says whether the inode is to be removed now.
    pub(crate) fn remove(&self, ino: Ino, count: u64) -> bool {
        let mut state = self.0.lock();
        if let Some(left) = state.counts.get_mut(&ino) {
            *left = left.saturating_sub(count);
            if *left > 0 {
                return false;
            }
            state.counts.remove(&ino);
        }
        state.unlinked.remove(&ino)
    }

    /// Notes that an inode has no name any more; says whether it is to be removed now.
    pub(crate) fn unlinked(&self, ino: Ino) -> bool {
        let mut state = self.0.lock();
        let used = state.counts.contains_key(&ino);
        if used {
            state.unlinked.insert(ino);
        }
        !used
    }

    /// Notes that an inode got a name again.
    pub(crate) fn linked(&self, ino: Ino) {
        self.0.lock().unlinked.remove(&ino);
    }
}
