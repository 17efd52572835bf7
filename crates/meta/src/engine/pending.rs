//! Changes that are done but not yet in the key-value store.
//!
//! Operations put their records here, whole transactions at a time, and every read looks here first. A commit takes *all* of it
//! at one moment, so that what becomes durable is always a prefix of the history of transactions.

use super::xattrs::LABEL;
use crate::SegmentId;
use crate::record::{Inode, Key, RecordKey, Superblock, encode_extent};
use crate::{Extent, NewSegment, Totals};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use stoa_vfs::Ino;

/// What a pending record takes in memory beside the bytes of its key and value, roughly.
const RECORD_OVERHEAD: usize = 128;

/// Records by key; `None` is a removal.
pub(super) type Changes = BTreeMap<Key, Option<Bytes>>;

/// What one operation changes, all or nothing.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    records: Vec<(Key, Option<Bytes>)>,
    live: Vec<(SegmentId, i64)>,
    new_segments: Vec<NewSegment>,
    forgotten: Vec<SegmentId>,
    inodes: i64,
    data_bytes: i64,
    /// It may give an inode a label.
    labels: bool,
}

impl Transaction {
    pub(super) fn put(&mut self, key: &RecordKey, value: Bytes) {
        self.labels |= matches!(key, RecordKey::Xattr(_, name) if name == LABEL);
        self.records.push((key.encode(), Some(value)));
    }

    pub(super) fn remove(&mut self, key: &RecordKey) {
        self.records.push((key.encode(), None));
    }

    pub(super) fn remove_key(&mut self, key: Key) {
        self.records.push((key, None));
    }

    pub(super) fn put_inode(&mut self, ino: Ino, inode: &Inode) {
        self.put(&RecordKey::Inode(ino), inode.encode());
    }

    /// Adds an extent to a file, and counts its data.
    pub(super) fn add_extent(&mut self, ino: Ino, extent: &Extent) {
        self.put(&RecordKey::Extent(ino, extent.end()), encode_extent(extent));
        self.count(extent, 1);
    }

    /// Takes an extent from a file, and stops counting its data.
    pub(super) fn remove_extent(&mut self, ino: Ino, extent: &Extent) {
        self.remove(&RecordKey::Extent(ino, extent.end()));
        self.count(extent, -1);
    }

    fn count(&mut self, extent: &Extent, sign: i64) {
        let bytes = i64::try_from(extent.data_bytes()).unwrap_or(i64::MAX).saturating_mul(sign);
        self.data_bytes = self.data_bytes.saturating_add(bytes);
        if let Some(segment) = extent.segment() {
            self.live.push((segment, bytes));
        }
    }

    /// Counts bytes that came to life, or died, in a segment.
    pub(super) fn count_live(&mut self, segment: SegmentId, bytes: i64) {
        self.live.push((segment, bytes));
    }

    /// Counts inodes made or removed.
    pub(super) fn count_inodes(&mut self, change: i64) {
        self.inodes += change;
    }

    pub(super) fn add_segment(&mut self, segment: NewSegment) {
        self.new_segments.push(segment);
    }

    pub(super) fn forget_segment(&mut self, segment: SegmentId) {
        self.forgotten.push(segment);
    }
}

/// What a commit takes: everything up to one moment.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) changes: Arc<Changes>,
    pub(super) live: HashMap<SegmentId, i64>,
    pub(super) new_segments: Vec<NewSegment>,
    pub(super) forgotten: Vec<SegmentId>,
    pub(super) superblock: Superblock,
    /// The last transaction among them.
    pub(super) sequence: u64,
}

#[derive(Debug)]
struct State {
    active: Changes,
    /// Taken by the commit under way, until the key-value store shows them.
    committing: Arc<Changes>,
    live: HashMap<SegmentId, i64>,
    new_segments: Vec<NewSegment>,
    forgotten: Vec<SegmentId>,
    superblock: Superblock,
    sequence: u64,
    /// Commits that the key-value store shows.
    shown: u64,
    bytes: usize,
}

/// All changes not yet in the key-value store.
#[derive(Debug)]
pub(super) struct Pending(Mutex<State>);

impl Pending {
    pub(super) fn new(superblock: Superblock) -> Self {
        Self(Mutex::new(State {
            active: Changes::new(),
            committing: Arc::default(),
            live: HashMap::new(),
            new_segments: Vec::new(),
            forgotten: Vec::new(),
            superblock,
            sequence: 0,
            shown: 0,
            bytes: 0,
        }))
    }

    /// Does `transaction`: from here on, every read sees it.
    pub(super) fn apply(&self, transaction: Transaction) {
        let mut state = self.0.lock();
        for (key, value) in transaction.records {
            state.bytes += key.len() + value.as_ref().map_or(0, Bytes::len) + RECORD_OVERHEAD;
            let key_bytes = key.len() + RECORD_OVERHEAD;
            if let Some(replaced) = state.active.insert(key, value) {
                let replaced = key_bytes + replaced.map_or(0, |value| value.len());
                state.bytes = state.bytes.saturating_sub(replaced);
            }
        }
        for (segment, bytes) in transaction.live {
            *state.live.entry(segment).or_default() += bytes;
        }
        state.new_segments.extend(transaction.new_segments);
        state.forgotten.extend(transaction.forgotten);
        let superblock = &mut state.superblock;
        superblock.inodes = superblock.inodes.saturating_add_signed(transaction.inodes);
        superblock.data_bytes = superblock.data_bytes.saturating_add_signed(transaction.data_bytes);
        superblock.labelled |= transaction.labels;
        state.sequence += 1;
    }

    /// A number that no inode had before.
    pub(super) fn next_ino(&self) -> Ino {
        let mut state = self.0.lock();
        let ino = Ino(state.superblock.next_ino);
        state.superblock.next_ino += 1;
        ino
    }

    /// What `key` was changed to, if it was: `Some(None)` is a removal.
    pub(super) fn get(&self, key: &Key) -> Option<Option<Bytes>> {
        let state = self.0.lock();
        state.active.get(key).or_else(|| state.committing.get(key)).cloned()
    }

    /// Changes of keys in `range`.
    pub(super) fn range(&self, range: &Range<Key>) -> Changes {
        let state = self.0.lock();
        if range.start >= range.end {
            return Changes::new();
        }
        let of = |changes: &Changes| -> Changes {
            changes.range(range.clone()).map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let mut changes = of(&state.committing);
        changes.extend(of(&state.active));
        changes
    }

    /// Takes everything for a commit; [`Pending::shown`] ends it. One commit at a time.
    pub(super) fn take(&self) -> Taken {
        let mut state = self.0.lock();
        state.committing = Arc::new(std::mem::take(&mut state.active));
        state.bytes = 0;
        Taken {
            changes: Arc::clone(&state.committing),
            live: std::mem::take(&mut state.live),
            new_segments: std::mem::take(&mut state.new_segments),
            forgotten: std::mem::take(&mut state.forgotten),
            superblock: state.superblock,
            sequence: state.sequence,
        }
    }

    /// The key-value store shows what was taken.
    pub(super) fn shown(&self) {
        let mut state = self.0.lock();
        state.committing = Arc::default();
        state.shown += 1;
    }

    /// What [`Pending::is_unchanged`] compares with.
    pub(super) fn commits_shown(&self) -> u64 {
        self.0.lock().shown
    }

    /// Whether `key` is in the key-value store as it was when [`Pending::commits_shown`] was `shown`: since then it is neither changed
    /// nor can a change of it have been committed.
    pub(super) fn is_unchanged(&self, key: &Key, shown: u64) -> bool {
        let state = self.0.lock();
        state.shown == shown && !state.active.contains_key(key) && !state.committing.contains_key(key)
    }

    /// Like [`Pending::is_unchanged`], of all keys in `range`.
    pub(super) fn is_range_unchanged(&self, range: &Range<Key>, shown: u64) -> bool {
        let state = self.0.lock();
        let has = |changes: &Changes| changes.range(range.clone()).next().is_some();
        state.shown == shown && !has(&state.active) && !has(&state.committing)
    }

    /// Sets what the volume counts, to go with the next commit.
    pub(super) fn set_totals(&self, totals: Totals) {
        let superblock = &mut self.0.lock().superblock;
        (superblock.inodes, superblock.data_bytes) = (totals.inodes, totals.data_bytes);
    }

    /// Keeps inode numbers below `free` from being given out, from here on and with the next commit.
    pub(super) fn skip_inos(&self, free: Ino) {
        let superblock = &mut self.0.lock().superblock;
        superblock.next_ino = superblock.next_ino.max(free.0);
    }

    pub(super) fn superblock(&self) -> Superblock {
        self.0.lock().superblock
    }

    /// The last transaction done.
    pub(super) fn sequence(&self) -> u64 {
        self.0.lock().sequence
    }

    /// Bytes in memory of records that no commit has taken.
    pub(super) fn bytes(&self) -> usize {
        self.0.lock().bytes
    }
}

#[cfg(test)]
mod tests;
