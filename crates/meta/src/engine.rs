//! The namespace on an embedded key-value store in the bucket.
//!
//! A read looks at decoded records in memory, then at pending changes, then in the key-value store. A change is checked and made
//! under the locks of the inodes it touches, put into the pending changes as one transaction, and becomes durable with the
//! next commit. Inodes and entries held in memory are only ever replaced under those locks, so that they are never older
//! than the records.

mod ahead;
mod attrs;
mod chunked;
mod commit;
mod extents;
mod fix;
mod kv;
mod limits;
mod locks;
mod make;
mod names;
mod operations;
mod pending;
mod publish;
mod read;
mod readdir;
mod refusals;
mod rename;
mod sealed;
mod segments;
mod shift;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod upkeep;
mod visit;
mod walk;
mod whole;
mod window;
mod xattrs;

use crate::record::{Inode, RecordKey, Superblock};
use crate::{Error, Result};
use kv::Kv;
use limits::Limits;
use locks::Locks;
use object_store::ObjectStore;
use pending::{Pending, Transaction};
use read::Cached;
pub use sealed::Fences;
use siphasher::sip::SipHasher13;
use std::collections::HashSet;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use stoa_vfs::{Ino, Kind, Name, Timestamp};
use tokio_util::sync::CancellationToken;

/// How to open an [`Engine`].
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The most memory for cached records, in bytes.
    pub memory_bytes_max: u64,
    /// The key of the hash of names: fixed for the life of a volume.
    pub hash_key: [u8; 16],
    /// How fences are stored: fixed for the life of a volume. [`Engine::format`] seals them.
    pub fences: Fences,
}

/// What the root directory starts as.
#[derive(Debug, Clone, Copy)]
pub struct RootOptions {
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// The namespace of a volume, in this process. Implements [`crate::Meta`].
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kv: Kv,
    limits: Limits,
    pending: Pending,
    locks: Locks,
    cached: Cached,
    hash_key: [u8; 16],
    /// Unlinked inodes that nobody uses any more and that are not removed yet.
    abandoned: parking_lot::Mutex<HashSet<Ino>>,
    /// Held by the commit under way.
    committing: tokio::sync::Mutex<()>,
    /// Held by the round of care under way.
    caring: Arc<tokio::sync::Mutex<()>>,
    /// Held shared by whoever shows all records of one moment: no table is collected meanwhile.
    visiting: tokio::sync::RwLock<()>,
    /// Held by an operation that moves a directory, so that no two can make a loop of each other.
    moving: tokio::sync::Mutex<()>,
    /// The last durable transaction.
    durable: AtomicU64,
    commits: AtomicU64,
    /// Commits at the last collection of the engine's log.
    collected: AtomicU64,
    /// Ends care under way: the engine closes.
    closing: CancellationToken,
    /// Why nothing can be changed any more.
    stopped: OnceLock<Error>,
}

impl Engine {
    /// Makes an empty namespace in `store`, which holds none yet, and closes it.
    ///
    /// # Errors
    /// [`stoa_vfs::Error::Exists`] when there is a namespace, which stays as it is; [`Error::Engine`] when the store can't be written.
    pub async fn format(store: Arc<dyn ObjectStore>, root: RootOptions) -> Result<()> {
        let kv = Kv::open(store, 0, &Limits::of(0), Fences::Sealed).await?;
        // Whoever formats at the same time is shut out by the open, or had finished before it and is seen here.
        if kv.get(&RecordKey::Superblock.encode()).await?.is_some() {
            kv.close().await?;
            return Err(stoa_vfs::Error::Exists.into());
        }
        let (inode, superblock) = first_records(root);
        kv.write([
            (RecordKey::Inode(Ino::ROOT).encode(), Some(inode.encode())),
            (RecordKey::Superblock.encode(), Some(superblock.encode())),
        ])
        .await?;
        kv.flush().await?;
        kv.close().await
    }

    /// Opens the namespace in `store`, and shuts out whoever had it open.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it is not readable.
    pub async fn open(store: Arc<dyn ObjectStore>, options: &EngineOptions) -> Result<Self> {
        let limits = Limits::of(options.memory_bytes_max);
        let kv = Kv::open(store, options.memory_bytes_max / 2, &limits, options.fences).await?;
        let superblock = kv.get(&RecordKey::Superblock.encode()).await?;
        let superblock = superblock.ok_or_else(|| Error::Corrupt("the namespace has no superblock".into()))?;
        let superblock =
            Superblock::decode(superblock).map_err(|error| Error::Corrupt(format!("superblock: {error}")))?;
        Ok(Self(Arc::new(Inner {
            kv,
            limits,
            pending: Pending::new(superblock),
            locks: Locks::new(),
            cached: Cached::new(options.memory_bytes_max / 2),
            hash_key: options.hash_key,
            abandoned: parking_lot::Mutex::default(),
            committing: tokio::sync::Mutex::new(()),
            caring: Arc::default(),
            visiting: tokio::sync::RwLock::default(),
            moving: tokio::sync::Mutex::new(()),
            durable: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            collected: AtomicU64::new(0),
            closing: CancellationToken::new(),
            stopped: OnceLock::new(),
        })))
    }
}

impl Inner {
    /// The hash that orders `name` within its directory: 48 bits, never 0, so that cookies below 2^15 stay free.
    fn hash(&self, name: &Name) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.hash_key);
        hasher.write(name.as_bytes());
        (hasher.finish() >> 16).max(1)
    }

    fn apply(&self, transaction: Transaction) {
        self.pending.apply(transaction);
    }

    fn uncommitted(&self) -> u64 {
        self.pending.sequence().saturating_sub(self.durable.load(Ordering::Acquire))
    }
}

/// An empty root, and the superblock that goes with it.
fn first_records(root: RootOptions) -> (Inode, Superblock) {
    let now = Timestamp::now();
    let inode = Inode {
        kind: Kind::Directory,
        mode: root.mode,
        uid: root.uid,
        gid: root.gid,
        nlink: 2,
        rdev: 0,
        size: 0,
        data_bytes: 0,
        parent: Ino::ROOT,
        atime: now,
        mtime: now,
        ctime: now,
        btime: now,
        flags: 0,
        target: bytes::Bytes::new(),
    };
    (inode, Superblock { next_ino: Ino::ROOT.0 + 1, inodes: 1, data_bytes: 0, labelled: false })
}

#[cfg(test)]
mod tests;
