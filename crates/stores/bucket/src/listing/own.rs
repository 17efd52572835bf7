//! What was changed here since a listing.

use siphasher::sip::SipHasher13;
use std::collections::HashSet;
use std::hash::Hasher;
use stoa_vfs::Name;

/// More names than this are not counted: then none of the listing is believed.
const NAMES_MAX: usize = 100_000;

/// The names that were added or removed here since a pass began: what it says about them is not so any more.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Hashes. That two names have the same makes one of them asked for once more.
    names: HashSet<u64>,
    /// There are too many.
    all: bool,
}

impl Changes {
    pub(super) fn add(&mut self, name: &Name) {
        match self.all || self.names.len() >= NAMES_MAX {
            true => self.add_all(),
            false => drop(self.names.insert(hash(name))),
        }
    }

    pub(super) fn add_all(&mut self) {
        (self.all, self.names) = (true, HashSet::new());
    }

    pub(super) fn has(&self, name: &Name) -> bool {
        self.all || self.names.contains(&hash(name))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.all
    }
}

fn hash(name: &Name) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(name.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_too_many_changes_nothing_is_believed() {
        let name = |number: usize| Name::new(number.to_string().into_bytes()).unwrap();
        let mut changes = Changes::default();
        assert!(changes.is_empty());
        (0..NAMES_MAX).for_each(|number| changes.add(&name(number)));
        assert!(changes.has(&name(0)) && !changes.has(&name(NAMES_MAX)));
        changes.add(&name(NAMES_MAX));
        assert!(changes.has(&name(NAMES_MAX + 1)) && !changes.is_empty());
    }
}
