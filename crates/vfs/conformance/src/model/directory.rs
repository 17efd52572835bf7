//! The entries of one directory, by name and by cookie.

use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use stoa_vfs::{Cookie, Ino, Name};

/// Below this, cookies belong to the doors.
const COOKIE_FIRST: u64 = 3;

#[derive(Debug, Clone, Copy)]
struct Slot {
    ino: Ino,
    cookie: u64,
}

/// A directory. Cookies count up and are never used again, so a scan sees every entry that stays exactly once.
pub(super) struct Directory {
    /// `None` once it was removed.
    pub(super) parent: Option<Ino>,
    names: HashMap<Name, Slot>,
    order: BTreeMap<u64, Name>,
    cookie_next: u64,
}

impl Directory {
    pub(super) fn new(parent: Ino) -> Self {
        Self { parent: Some(parent), names: HashMap::new(), order: BTreeMap::new(), cookie_next: COOKIE_FIRST }
    }

    pub(super) fn get(&self, name: &Name) -> Option<Ino> {
        self.names.get(name).map(|slot| slot.ino)
    }

    pub(super) fn len(&self) -> u64 {
        self.names.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Lets `name` name `ino`. A name that was there keeps its cookie.
    pub(super) fn insert(&mut self, name: &Name, ino: Ino) {
        if let Some(slot) = self.names.get_mut(name) {
            slot.ino = ino;
            return;
        }
        // A copy of its own: the bytes may be a part of some door's large buffer.
        let name = Name::new(Bytes::copy_from_slice(name.as_bytes())).unwrap_or_else(|_| name.clone());
        let cookie = self.cookie_next;
        self.cookie_next += 1;
        self.order.insert(cookie, name.clone());
        self.names.insert(name, Slot { ino, cookie });
    }

    pub(super) fn remove(&mut self, name: &Name) -> Option<Ino> {
        let slot = self.names.remove(name)?;
        self.order.remove(&slot.cookie);
        Some(slot.ino)
    }

    /// The entries after `after`, in order.
    pub(super) fn after(&self, after: Cookie) -> impl Iterator<Item = (Cookie, &Name, Ino)> {
        self.order
            .range((Bound::Excluded(after.0), Bound::Unbounded))
            .filter_map(|(cookie, name)| Some((Cookie(*cookie), name, self.get(name)?)))
    }
}
