//! The decoded pieces in memory, and the ceiling they share with what is being fetched.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bytes::Bytes;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Lifecycle, OptionsBuilder, Weighter};

use crate::object::Key;
use crate::usage::{add, get};
use crate::{Error, Result};

/// What an entry takes beside its bytes: key, handle, links, hash slot and allocation headers, rounded up.
pub(crate) const ENTRY_BYTES: u64 = 192;
/// No shard of the map is smaller than this, or large pieces would not fit in.
const SHARD_BYTES_MIN: u64 = 8 << 20;
/// What an average piece holds; the map only sizes its tables by it.
const PIECE_BYTES_TYPICAL: u64 = 32 << 10;

/// A map from keys to decoded pieces, never heavier than its limit.
pub(crate) struct Memory {
    map: Cache<Key, Bytes, Weight, DefaultHashBuilder, Evictions>,
    evictions: Evictions,
}

impl Memory {
    /// An empty map that holds at most `bytes_max`.
    pub(crate) fn new(bytes_max: u64) -> Result<Self> {
        let shards = (bytes_max / SHARD_BYTES_MIN).clamp(1, 16).next_power_of_two();
        // Each shard rounds its share up.
        let weight = bytes_max.saturating_sub(shards).max(1);
        let items = (bytes_max / PIECE_BYTES_TYPICAL).clamp(32, 1 << 20);
        let options = OptionsBuilder::new()
            .shards(usize::try_from(shards).unwrap_or(1))
            .estimated_items_capacity(usize::try_from(items).unwrap_or(32))
            .weight_capacity(weight)
            // What was read ahead is new, so it must have room beside what is hot until it is read.
            .hot_allocation(0.6)
            .build()
            .map_err(|_| Error::Invalid("memory_bytes_max"))?;
        let evictions = Evictions::default();
        let map = Cache::with_options(options, Weight, DefaultHashBuilder::default(), evictions.clone());
        Ok(Self { map, evictions })
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Bytes> {
        self.map.get(key)
    }

    /// Whether the piece is held, without making it more recently used.
    pub(crate) fn contains(&self, key: &Key) -> bool {
        self.map.contains_key(key)
    }

    /// Keeps a piece, throwing out others; one that is heavier than a shard is not kept.
    pub(crate) fn insert(&self, key: Key, decoded: Bytes) {
        self.map.insert(key, decoded);
    }

    pub(crate) fn remove(&self, key: &Key) {
        self.map.remove(key);
    }

    /// Drops all pieces of an object. Takes time in proportion to all pieces held.
    pub(crate) fn forget(&self, id: u128) {
        self.map.retain(|key, _| key.0 != id);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.map.weight()
    }

    pub(crate) fn evictions(&self) -> u64 {
        get(&self.evictions.0)
    }
}

#[derive(Debug, Clone)]
struct Weight;

impl Weighter<Key, Bytes> for Weight {
    fn weight(&self, _: &Key, decoded: &Bytes) -> u64 {
        decoded.len() as u64 + ENTRY_BYTES
    }
}

/// Counts what is thrown out.
#[derive(Debug, Clone, Default)]
struct Evictions(Arc<AtomicU64>);

impl Lifecycle<Key, Bytes> for Evictions {
    type RequestState = <DefaultLifecycle<Key, Bytes> as Lifecycle<Key, Bytes>>::RequestState;

    fn on_evict(&self, _: &mut Self::RequestState, _: Key, _: Bytes) {
        add(&self.0, 1);
    }
}
