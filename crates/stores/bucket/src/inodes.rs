//! Inodes: those that the kernel refers to.

use crate::draft::Draft;
use crate::found::{Found, Looks, Target, Version};
use crate::listing::Listing;
use parking_lot::Mutex;
use siphasher::sip::SipHasher13;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stoa_vfs::{Attr, Entry, Error, Ino, Result, SetAttr};

/// Numbers that fit into a signed 64-bit one: some programs count in those.
const NUMBER_MAX: u64 = u64::MAX >> 1;

/// The first number that is not the root's.
const NUMBER_MIN: u64 = Ino::ROOT.0 + 1;

/// An inode that is referred to.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) ino: Ino,
    target: Mutex<Target>,
    /// What is being written.
    pub(crate) draft: tokio::sync::Mutex<Option<Draft>>,
    /// What is known of its entries, if it is a directory.
    pub(crate) listing: Listing,
    /// How the store shows it.
    looks: Mutex<Looks>,
    /// How it is shown while it is written and the store does not have that yet.
    written: Mutex<Option<Looks>>,
    stale: AtomicBool,
    /// The tag of the content that was stored here, or opened to be read and still there.
    seen: Mutex<Option<Arc<str>>>,
}

/// The inodes that the kernel refers to, and the numbers of all others.
///
/// A number is a hash of what the inode is of, so it is the same when the kernel has forgotten it meanwhile, and before it ever
/// knew it. When two that are referred to at the same time have the same hash, the second takes the next number that is free.
#[derive(Debug)]
pub(crate) struct Inodes {
    root: Arc<Node>,
    table: Mutex<Table>,
    moved: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    referred: HashMap<Ino, Referred>,
    /// What has another number than its hash: what was written here, as an inode keeps its number and has another content; and what
    /// would have had the number of another.
    written: HashMap<Target, Ino>,
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
            target: Mutex::new(found.target.clone()),
            draft: tokio::sync::Mutex::default(),
            listing: Listing::default(),
            looks: Mutex::new(found.looks.clone()),
            written: Mutex::default(),
            stale: AtomicBool::new(false),
            seen: Mutex::default(),
        })
    }

    /// What it is of.
    pub(crate) fn target(&self) -> Target {
        self.target.lock().clone()
    }

    /// Which content of which object it is of.
    ///
    /// # Errors
    /// [`Error::IsDirectory`].
    pub(crate) fn version(&self) -> Result<Version> {
        match self.target() {
            Target::Object(version) => Ok(version),
            Target::Directory(_) => Err(Error::IsDirectory),
        }
    }

    /// What it is of, and how it looks.
    pub(crate) fn found(&self) -> Found {
        let written = self.written.lock().clone();
        Found { target: self.target(), looks: written.unwrap_or_else(|| self.looks.lock().clone()) }
    }

    /// It was written: it has another length, since now.
    pub(crate) fn resized(&self, size: u64) {
        let looks = self.found().looks.resized(size);
        *self.written.lock() = Some(looks);
    }

    /// It was changed, and the store has that.
    pub(crate) fn changed(&self, set: &SetAttr) {
        let mut looks = self.looks.lock();
        *looks = looks.changed(set);
    }

    /// It was changed, and the store gets that when it gets what is written.
    pub(crate) fn changes(&self, set: &SetAttr) {
        let looks = self.found().looks.changed(set);
        *self.written.lock() = Some(looks);
    }

    /// The store has what was written.
    pub(crate) fn stored(&self) {
        if let Some(written) = self.written.lock().take() {
            *self.looks.lock() = written;
        }
    }

    /// The store does not get what was written.
    pub(crate) fn given_up(&self) {
        *self.written.lock() = None;
    }

    pub(crate) fn attr(&self) -> Attr {
        let attr = self.found().looks.attr(self.ino);
        Attr { nlink: if self.is_stale() { 0 } else { attr.nlink }, ..attr }
    }

    /// Whether the store no longer has it, as a read found out.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    pub(crate) fn went_stale(&self) {
        self.stale.store(true, Ordering::Relaxed);
    }

    /// Whether this content was there when it was opened here to be read. What is written is another; what is only renamed is the same.
    pub(crate) fn has_seen(&self, version: &Version) -> bool {
        let seen = self.seen.lock();
        seen.is_some() && *seen == version.etag
    }

    pub(crate) fn sees(&self, version: Version) {
        *self.seen.lock() = version.etag;
    }
}

impl Inodes {
    pub(crate) fn new(root: &Found) -> Self {
        Self { root: Node::new(Ino::ROOT, root), table: Mutex::default(), moved: AtomicU64::new(0) }
    }

    /// The inode of a number.
    ///
    /// # Errors
    /// [`Error::Stale`] if nobody refers to it.
    pub(crate) fn get(&self, ino: Ino) -> Result<Arc<Node>> {
        if ino == Ino::ROOT {
            return Ok(Arc::clone(&self.root));
        }
        self.table.lock().referred.get(&ino).map(|it| Arc::clone(&it.node)).ok_or(Error::Stale)
    }

    /// Hands out a reference to what was found just now.
    pub(crate) fn hand_out(&self, found: &Found) -> Entry {
        if found.target == self.root.target() {
            return Entry { attr: self.root.attr() };
        }
        let mut table = self.table.lock();
        let ino = table.number(&found.target);
        // It keeps the number, whoever had the one that it would have.
        if ino != hashed(&found.target) {
            table.written.insert(found.target.clone(), ino);
        }
        let it = table.referred.entry(ino).or_insert_with(|| Referred { node: Node::new(ino, found), count: 0 });
        it.count += 1;
        *it.node.looks.lock() = found.looks.clone();
        Entry { attr: it.node.attr() }
    }

    /// As [`Inodes::hand_out`]; `None` for a file that was made here and is not that any more, as it has been stored.
    pub(crate) fn refer(&self, found: &Found) -> Option<Entry> {
        if !matches!(found.target, Target::Object(Version { draft: 1.., .. })) {
            return Some(self.hand_out(found));
        }
        let mut table = self.table.lock();
        let ino = table.number(&found.target);
        let it = table.referred.get_mut(&ino).filter(|it| it.node.target() == found.target)?;
        it.count += 1;
        Some(Entry { attr: it.node.attr() })
    }

    /// Hands out another reference to an inode that is referred to.
    pub(crate) fn again(&self, ino: Ino) -> Result<Entry> {
        let node = self.get(ino)?;
        if let Some(it) = self.table.lock().referred.get_mut(&ino) {
            it.count += 1;
        }
        Ok(Entry { attr: node.attr() })
    }

    /// The number that an inode has or would have.
    pub(crate) fn number(&self, target: &Target) -> Ino {
        if *target == self.root.target() {
            return Ino::ROOT;
        }
        self.table.lock().number(target)
    }

    /// The inode of `target`, if the kernel refers to it.
    pub(crate) fn find(&self, target: &Target) -> Option<Arc<Node>> {
        self.get(self.number(target)).ok()
    }

    /// The inode of a content of an object, if the kernel refers to it.
    pub(crate) fn find_object(&self, key: &str, etag: &str, size: u64) -> Option<Arc<Node>> {
        self.find(&Target::Object(Version { key: key.into(), etag: Some(etag.into()), size, draft: 0 }))
    }

    /// `node` has become `target`, by what was written to it, or by a rename.
    pub(crate) fn became(&self, node: &Node, target: Target) {
        let mut table = self.table.lock();
        let before = std::mem::replace(&mut *node.target.lock(), target.clone());
        if before.key() != target.key() {
            self.moved.fetch_add(1, Ordering::SeqCst);
        }
        table.lose(&before, node.ino);
        // The kernel may have forgotten it meanwhile.
        if table.referred.get(&node.ino).is_some_and(|it| std::ptr::eq(&*it.node, node)) {
            table.written.insert(target, node.ino);
        }
    }

    /// How often one has got another key.
    pub(crate) fn moved(&self) -> u64 {
        self.moved.load(Ordering::SeqCst)
    }

    /// Whether the kernel refers to `target`, and it is known to be gone.
    pub(crate) fn is_stale(&self, target: &Target) -> bool {
        self.find(target).is_some_and(|node| node.is_stale())
    }

    /// The store still has it, or has it again.
    pub(crate) fn is_there(&self, target: &Target) {
        if let Some(node) = self.find(target) {
            node.stale.store(false, Ordering::Relaxed);
        }
    }

    /// Takes `count` references back.
    pub(crate) fn forget(&self, ino: Ino, count: u64) {
        let mut table = self.table.lock();
        let Some(it) = table.referred.get_mut(&ino) else { return };
        it.count = it.count.saturating_sub(count);
        if it.count == 0 {
            let target = it.node.target();
            table.referred.remove(&ino);
            table.lose(&target, ino);
        }
    }

    /// All that the kernel refers to.
    pub(crate) fn all(&self) -> Vec<Arc<Node>> {
        self.table.lock().referred.values().map(|it| Arc::clone(&it.node)).collect()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        1 + self.table.lock().referred.len() as u64
    }
}

impl Table {
    /// An inode is not of `target` any more. Another may be: what was renamed over it, and has the same content.
    fn lose(&mut self, target: &Target, ino: Ino) {
        if self.written.get(target) == Some(&ino) {
            self.written.remove(target);
        }
    }

    fn number(&self, target: &Target) -> Ino {
        let written = self.written.get(target).copied();
        written.unwrap_or_else(|| number(target, |ino| self.referred.get(&ino).map(|it| it.node.target())))
    }
}

/// The number of `target`: its hash, or the next that no other target has.
fn number(target: &Target, of: impl Fn(Ino) -> Option<Target>) -> Ino {
    let Ino(mut number) = hashed(target);
    while of(Ino(number)).is_some_and(|other| other != *target) {
        number = if number == NUMBER_MAX { NUMBER_MIN } else { number + 1 };
    }
    Ino(number)
}

fn hashed(target: &Target) -> Ino {
    let mut hasher = SipHasher13::new();
    target.hash(&mut hasher);
    Ino((hasher.finish() & NUMBER_MAX).max(NUMBER_MIN))
}

#[cfg(test)]
mod tests;
