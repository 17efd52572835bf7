//! Opening, closing, and asking a volume.

use crate::cleaning::Reads;
use crate::file::Files;
use crate::layout::VolumeFile;
use crate::log::{Log, LogOptions};
use crate::neighbours::Neighbours;
use crate::ownership::{Claim, Ownership};
use crate::references::References;
use crate::writing::Open;
use crate::{Error, FormatOptions, OpenOptions, Result, Status, VolumeInfo};
use object_store::ObjectStore;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use stoa_cache::{Budget, Cache, DiskOptions};
use stoa_meta::{Engine, EngineOptions, Meta, RootOptions, SegmentId};
use stoa_vfs::{Handles, Ino};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Shares of the memory ceiling: a quarter for dirty data, which takes up to twice that while it is compressed and uploaded;
const DIRTY_SHARE: u64 = 4;
/// an eighth for the namespace;
const META_SHARE: u64 = 8;
/// and a quarter for cached data. What is left is for requests and stacks.
const CACHE_SHARE: u64 = 4;

/// The least memory that a volume runs in.
const MEMORY_BYTES_MIN: u64 = 64 << 20;

/// An open volume, and the one owner of it. Implements [`stoa_vfs::Vfs`].
#[derive(Debug)]
pub struct Volume {
    pub(crate) about: VolumeFile,
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) meta: Arc<dyn Meta>,
    pub(crate) log: Arc<Log>,
    pub(crate) files: Arc<Files>,
    pub(crate) cache: Arc<Cache>,
    /// Memory for dirty data.
    pub(crate) budget: Budget,
    pub(crate) handles: Handles<Open>,
    pub(crate) references: References,
    pub(crate) reads: Reads,
    pub(crate) neighbours: Neighbours,
    pub(crate) commit_interval: Duration,
    /// Told when dirty data should be written without waiting for its time.
    pub(crate) pressure: Notify,
    /// Commits that were made.
    pub(crate) commits: AtomicU64,
    /// Held by the collection under way; segments that this mount could not empty, and does not try to again.
    pub(crate) collecting: tokio::sync::Mutex<HashSet<SegmentId>>,
    pub(crate) last_error: Mutex<Option<String>>,
    read_only: bool,
    noatime: bool,
    /// Whether nothing is taken any more.
    closed: AtomicBool,
    memory_bytes_max: u64,
    ownership: Ownership,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// Makes an empty volume in `store`, which must hold nothing yet. Durable when it returns.
///
/// # Errors
/// [`Error::Exists`], [`Error::NotEmpty`], [`Error::Store`].
pub async fn format(store: Arc<dyn ObjectStore>, options: &FormatOptions) -> Result<VolumeInfo> {
    Claim::check_vacant(store.as_ref()).await?;
    stoa_objects::probe(store.as_ref()).await.map_err(Error::Store)?;
    // Not before the store is known to be able to: what ignores a condition can't keep two formats apart.
    let claim = Claim::take(store.as_ref()).await?;
    let about = VolumeFile::new(options);
    let root = RootOptions { mode: options.root_mode, uid: options.root_uid, gid: options.root_gid };
    // From here on a failure leaves the claim: it says what the objects are that were written.
    Engine::format(Arc::clone(&store), root).await?;
    about.create(store.as_ref()).await?;
    claim.release(store.as_ref()).await;
    Ok(about.info())
}

impl Volume {
    /// Reads what the volume in `store` is, without opening it.
    ///
    /// # Errors
    /// [`Error::NotAVolume`], [`Error::Newer`], [`Error::Corrupt`].
    pub async fn describe(store: Arc<dyn ObjectStore>) -> Result<VolumeInfo> {
        Ok(VolumeFile::read(store.as_ref()).await?.info())
    }

    /// Opens the volume in `store` and takes it as its one owner.
    ///
    /// # Errors
    /// [`Error::NotAVolume`], [`Error::Newer`], [`Error::Owned`].
    pub async fn open(store: Arc<dyn ObjectStore>, options: OpenOptions) -> Result<Arc<Self>> {
        let about = VolumeFile::read(store.as_ref()).await?;
        let ownership = Ownership::take(store.as_ref(), options.owner.clone(), options.take_over).await?;
        let opened = Self::open_owned(about, Arc::clone(&store), options, ownership.clone()).await;
        if opened.is_err()
            && let Err(error) = ownership.release(store.as_ref()).await
        {
            tracing::warn!(%error, "a volume that was not opened could not be given back");
        }
        opened
    }

    /// The part of opening that may fail with the volume taken.
    async fn open_owned(
        about: VolumeFile,
        store: Arc<dyn ObjectStore>,
        options: OpenOptions,
        ownership: Ownership,
    ) -> Result<Arc<Self>> {
        let memory_bytes_max = options.memory_bytes_max.max(MEMORY_BYTES_MIN);
        let mut cache = stoa_cache::Options::new(memory_bytes_max / CACHE_SHARE);
        cache.disk = options.cache_dir.map(|dir| DiskOptions {
            dir,
            bytes_max: options.cache_bytes_max,
            volume: about.uuid.to_string(),
        });
        let cache = Cache::open(Arc::clone(&store), cache).map_err(|error| Error::Io(error.to_string()))?;
        let engine = EngineOptions {
            memory_bytes_max: memory_bytes_max / META_SHARE,
            hash_key: about.uuid.into_bytes(),
            fences: about.fences(),
        };
        let meta = open_meta(&store, &engine, &ownership).await?;
        let files = Arc::new(Files::default());
        let (log, tasks) = Log::start(LogOptions {
            meta: Arc::clone(&meta),
            store: Arc::clone(&store),
            files: Arc::clone(&files),
            compression_level: about.compression_level,
            epoch: ownership.epoch,
        });
        let volume = Arc::new(Self {
            about,
            store,
            meta,
            log,
            files,
            cache,
            budget: Budget::new(memory_bytes_max / DIRTY_SHARE),
            handles: Handles::default(),
            references: References::default(),
            reads: Reads::default(),
            neighbours: Neighbours::default(),
            commit_interval: options.commit_interval,
            pressure: Notify::new(),
            commits: AtomicU64::new(0),
            collecting: tokio::sync::Mutex::default(),
            last_error: Mutex::new(None),
            read_only: options.read_only,
            noatime: options.noatime,
            closed: AtomicBool::new(false),
            memory_bytes_max,
            ownership,
            tasks: Mutex::new(tasks),
        });
        volume.start_tasks().await;
        Ok(volume)
    }

    async fn start_tasks(self: &Arc<Self>) {
        // Asked before anything can be unlinked: what this mount unlinks and still uses is not among them.
        let orphans = if self.read_only { Ok(Vec::new()) } else { self.meta.orphans().await };
        let orphans = orphans.unwrap_or_else(|error| {
            tracing::warn!(%error, "what an earlier mount left can't be listed; it stays");
            Vec::new()
        });
        let reaper = tokio::spawn(reap(Arc::downgrade(self), orphans));
        let flusher = tokio::spawn(crate::flushing::run(Arc::downgrade(self)));
        let cleaner = tokio::spawn(crate::cleaning::run(Arc::downgrade(self)));
        self.tasks.lock().extend([reaper, flusher, cleaner]);
    }

    /// Makes everything durable, gives ownership back and stops. Tries for as long as the store is away. What is written meanwhile is made
    /// durable too, or refused.
    ///
    /// # Errors
    /// What kept data from becoming durable, if it never can: the right to write is lost. Nothing is released then.
    pub async fn close(&self) -> Result<()> {
        // What was taken before it was closed may have been too late for the first time.
        for closed in [false, true] {
            self.closed.store(closed, Ordering::Release);
            while let Err(error) = self.sync_all().await {
                if let Some(reason) = self.fenced() {
                    self.stop_tasks();
                    // What changed nothing has nothing to lose.
                    return if self.read_only { Ok(()) } else { Err(Error::Fenced(reason)) };
                }
                self.check().map_err(|error| Error::Io(error.to_string()))?;
                tracing::warn!(%error, "not everything is in the store yet; trying again");
                tokio::time::sleep(self.commit_interval).await;
            }
        }
        self.stop_tasks();
        let _no_collection = self.collecting.lock().await;
        self.meta.close().await?;
        self.ownership.release(self.store.as_ref()).await
    }

    /// Stops at once, as a crash would: nothing more is written, nothing is released. For tests of recovery.
    pub fn abandon(&self) {
        self.stop_tasks();
    }

    fn stop_tasks(&self) {
        self.log.stop();
        self.tasks.lock().drain(..).for_each(|task| task.abort());
    }

    /// How it is.
    #[must_use]
    pub fn status(&self) -> Status {
        let usage = self.cache.usage();
        let totals = self.meta.totals();
        Status {
            volume: self.about.info(),
            read_only: self.read_only,
            fenced: self.fenced(),
            dirty_bytes: self.budget.used(),
            uncommitted_operations: self.meta.uncommitted(),
            uploads_running: self.log.uploads_running(),
            cache_memory_bytes: usage.memory_bytes,
            cache_disk_bytes: usage.disk_bytes,
            memory_bytes_max: self.memory_bytes_max,
            used_bytes: totals.data_bytes,
            inodes: totals.inodes,
            last_error: self.last_error.lock().clone(),
        }
    }

    fn fenced(&self) -> Option<String> {
        match self.check() {
            // Only the reason: whoever shows it says first that this mount was fenced.
            Err(stoa_vfs::Error::Fenced) => Some(stoa_meta::Error::Fenced.to_string()),
            _ => None,
        }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether reading changes times of access.
    pub(crate) fn keeps_atime(&self) -> bool {
        !self.noatime && !self.read_only
    }

    /// Lets an operation begin that changes something.
    pub(crate) fn check_writable(&self) -> stoa_vfs::Result<()> {
        if self.read_only {
            return Err(stoa_vfs::Error::ReadOnly);
        }
        self.check_open()?;
        self.check()
    }

    /// Asked once more by what has changed something: then it is known to be in time.
    ///
    /// # Errors
    /// When the volume was closed.
    pub(crate) fn check_open(&self) -> stoa_vfs::Result<()> {
        match self.closed.load(Ordering::Acquire) {
            true => Err(stoa_vfs::Error::Io("the volume is closed".into())),
            false => Ok(()),
        }
    }

    /// Makes sure that the volume is still this mount's, as one that changes nothing does not hear of it otherwise. What it knows of the
    /// namespace may be old then.
    ///
    /// # Errors
    /// [`Error::Fenced`], and from then on nothing can be written.
    pub(crate) async fn confirm_owner(&self) -> Result<()> {
        let confirmed = self.ownership.confirm(self.store.as_ref()).await;
        if let Err(Error::Fenced(_)) = confirmed {
            self.log.fail(stoa_vfs::Error::Fenced);
        }
        confirmed
    }

    /// # Errors
    /// Why nothing can get into the store any more, if so.
    pub(crate) fn check(&self) -> stoa_vfs::Result<()> {
        self.log.check()?;
        Ok(self.meta.check()?)
    }

    /// Keeps a failure for `stoa status`.
    pub(crate) fn note(&self, error: &dyn std::fmt::Display) {
        *self.last_error.lock() = Some(format!("{} {error}", crate::clock::rfc3339_now()));
    }
}

/// Opens the namespace, which shuts out whoever had it, and gives it up again if a newer owner came meanwhile.
async fn open_meta(
    store: &Arc<dyn ObjectStore>,
    options: &EngineOptions,
    ownership: &Ownership,
) -> Result<Arc<dyn Meta>> {
    let meta = Engine::open(Arc::clone(store), options).await?;
    if let Err(error) = ownership.confirm(store.as_ref()).await {
        // It may be fenced already, and there is nothing in it to lose.
        let _ = meta.close().await;
        return Err(error);
    }
    Ok(Arc::new(meta))
}

/// Removes what an earlier mount had unlinked and still open when it ended. Nobody waits for this, and one that can't be removed
/// only takes up room. Not while a check counts.
async fn reap(volume: Weak<Volume>, orphans: Vec<Ino>) {
    for ino in orphans {
        let Some(volume) = volume.upgrade() else { return };
        let _nobody_counts = volume.collecting.lock().await;
        if let Err(error) = volume.meta.reap(ino).await {
            tracing::warn!(%error, inode = ino.0, "what an earlier mount left can't be removed; it stays");
        }
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        self.stop_tasks();
    }
}
