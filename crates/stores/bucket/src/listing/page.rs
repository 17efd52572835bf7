//! Pages that were listed.

use super::cookie::{HASH_MAX, HASH_MIN};
use crate::found::{Found, Target};
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::sync::Arc;
use std::time::Duration;
use stoa_vfs::Name;
use tokio::time::Instant;

/// Memory of an entry beside its texts: name, target, looks, and what the allocator adds.
const ENTRY_BYTES: u64 = 320;

/// One page of a directory: the entries between two marks.
#[derive(Debug)]
pub(crate) struct Page {
    /// In the order of their hashes, no two with the same.
    entries: Vec<PageEntry>,
    /// Whether the directory ends here.
    pub(crate) last: bool,
    /// Whether the directory's own marker was among the keys.
    marked: bool,
    fetched: Instant,
}

/// A name in a directory.
#[derive(Debug)]
pub(crate) struct PageEntry {
    pub(crate) name: Name,
    pub(crate) found: Found,
    /// The hash of the name, or a little more.
    pub(crate) hash: u64,
}

impl Page {
    pub(crate) fn new(entries: impl IntoIterator<Item = (Name, Found)>, last: bool) -> Self {
        let hashed = |(name, found)| PageEntry { hash: hash(&name), name, found };
        let mut entries: Vec<_> = entries.into_iter().map(hashed).collect();
        entries.sort_by(|one, other| (one.hash, &one.name).cmp(&(other.hash, &other.name)));
        let mut before = 0;
        for entry in &mut entries {
            // Two with one hash: one of some 60,000 pages has such, and the names in between would have to be as many as all others
            // to reach the end.
            entry.hash = entry.hash.max(before + 1);
            before = entry.hash;
        }
        Self { entries, last, marked: false, fetched: Instant::now() }
    }

    /// The same, of a directory that has a marker, which comes before all that is in it; or has none.
    pub(super) fn marked(self, marked: bool) -> Self {
        Self { marked, ..self }
    }

    pub(super) fn is_marked(&self) -> bool {
        self.marked
    }

    /// The entries after a place.
    pub(crate) fn after(&self, hash: u64) -> &[PageEntry] {
        let from = self.entries.partition_point(|entry| entry.hash <= hash);
        self.entries.get(from..).unwrap_or_default()
    }

    /// The names in it, in the order in which they are read.
    pub(super) fn names(&self) -> impl DoubleEndedIterator<Item = &Name> {
        self.entries.iter().map(|entry| &entry.name)
    }

    /// What a name stands for.
    pub(crate) fn find(&self, name: &Name) -> Option<&Found> {
        let wanted = hash(name);
        let near = self.after(wanted - 1).iter().zip(wanted..);
        // As long as hashes follow each other without a gap, the name may have been moved up.
        near.take_while(|(entry, at)| entry.hash <= *at)
            .map(|(entry, _)| entry)
            .find(|entry| entry.name == *name)
            .map(|entry| &entry.found)
    }

    fn is_younger_than(&self, age: Duration) -> bool {
        self.fetched.elapsed() < age
    }

    fn bytes(&self) -> u64 {
        let text = |entry: &PageEntry| match &entry.found.target {
            Target::Directory(directory) => directory.prefix().len(),
            Target::Object(version) => version.key.len() + version.etag.as_ref().map_or(0, |etag| etag.len()),
        };
        let texts: usize = self.entries.iter().map(|entry| entry.name.as_bytes().len() + text(entry)).sum();
        texts as u64 + ENTRY_BYTES * (1 + self.entries.len() as u64)
    }
}

fn hash(name: &Name) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(name.as_bytes());
    // Room above, for those that are moved up.
    hasher.finish() % (HASH_MAX / 2) + HASH_MIN
}

/// The pages that are kept.
#[derive(Debug)]
pub(crate) struct Pages(Cache<(u64, u32), Arc<Page>, Weight>);

impl Pages {
    /// At most so many bytes of them.
    pub(crate) fn new(bytes_max: u64) -> Self {
        let options = OptionsBuilder::new()
            // One shard: a page may be a large part of all.
            .shards(1)
            .estimated_items_capacity(1024)
            .weight_capacity(bytes_max)
            .build();
        match options {
            Ok(options) => {
                Self(Cache::with_options(options, Weight, DefaultHashBuilder::default(), Default::default()))
            }
            Err(_) => Self(Cache::with_weighter(1024, bytes_max, Weight)),
        }
    }

    pub(super) fn get(&self, key: (u64, u32), age_max: Option<Duration>) -> Option<Arc<Page>> {
        let page = self.0.get(&key)?;
        age_max.is_none_or(|age| page.is_younger_than(age)).then_some(page)
    }

    pub(super) fn keep(&self, key: (u64, u32), page: &Arc<Page>) {
        self.0.insert(key, Arc::clone(page));
    }
}

#[derive(Debug, Clone)]
struct Weight;

impl Weighter<(u64, u32), Arc<Page>> for Weight {
    fn weight(&self, _: &(u64, u32), page: &Arc<Page>) -> u64 {
        page.bytes()
    }
}
