//! Which pieces are in which slab, and which slab goes when there is no room.

use std::collections::{BTreeMap, HashMap};

use super::entry::Row;

/// What an entry takes in memory, in bytes: its slot in a table that may be half empty, and in its slab's list.
pub(crate) const INDEX_ENTRY_BYTES: u64 = 80;
/// Among so many of the oldest slabs, the one that was read least goes first.
const CANDIDATES: usize = 4;

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) slab: u64,
    /// Where the entry's header begins, in bytes from the slab's start.
    pub(crate) position: u32,
    /// How many bytes the payload has.
    pub(crate) len: u32,
}

/// The entries of all slabs, by fingerprint.
#[derive(Debug, Default)]
pub(crate) struct Index {
    places: HashMap<u64, Place>,
    slabs: BTreeMap<u64, Slab>,
}

#[derive(Debug, Default)]
struct Slab {
    fingerprints: Vec<u64>,
    hits: u64,
}

impl Index {
    pub(crate) fn find(&self, fingerprint: u64) -> Option<Place> {
        self.places.get(&fingerprint).copied()
    }

    /// Counts a read in favour of its slab.
    pub(crate) fn hit(&mut self, place: &Place) {
        if let Some(slab) = self.slabs.get_mut(&place.slab) {
            slab.hits += 1;
        }
    }

    /// Adds a slab, so that it is counted before it has entries.
    pub(crate) fn add_slab(&mut self, slab: u64) {
        self.slabs.entry(slab).or_default();
    }

    /// Adds an entry to a slab that was added.
    pub(crate) fn add(&mut self, slab: u64, row: Row) {
        if let Some(of) = self.slabs.get_mut(&slab) {
            of.fingerprints.push(row.fingerprint);
            self.places.insert(row.fingerprint, Place { slab, position: row.position, len: row.len });
        }
    }

    /// Drops an entry, unless it has moved meanwhile.
    pub(crate) fn remove(&mut self, fingerprint: u64, place: &Place) {
        if self.places.get(&fingerprint) == Some(place) {
            self.places.remove(&fingerprint);
        }
    }

    /// Drops a slab and what is in it.
    pub(crate) fn remove_slab(&mut self, slab: u64) {
        let Some(Slab { fingerprints, .. }) = self.slabs.remove(&slab) else {
            return;
        };
        for fingerprint in fingerprints {
            if self.places.get(&fingerprint).is_some_and(|place| place.slab == slab) {
                self.places.remove(&fingerprint);
            }
        }
    }

    /// The slab to throw away next: of the oldest few, the one read least. The others' merits are halved.
    pub(crate) fn victim(&mut self) -> Option<u64> {
        let oldest = self.slabs.iter().take(CANDIDATES);
        let victim = oldest.min_by_key(|(_, slab)| slab.hits).map(|(number, _)| *number);
        self.slabs.values_mut().take(CANDIDATES).for_each(|slab| slab.hits /= 2);
        victim
    }

    pub(crate) fn slabs(&self) -> u64 {
        self.slabs.len() as u64
    }

    /// How many entries are listed, including those that were dropped one by one.
    pub(crate) fn entries(&self) -> u64 {
        self.slabs.values().map(|slab| slab.fingerprints.len() as u64).sum()
    }

    /// The number for a new slab: after all others.
    pub(crate) fn next_slab(&self) -> u64 {
        self.slabs.last_key_value().map_or(0, |(last, _)| last + 1)
    }
}

#[cfg(test)]
mod tests;
