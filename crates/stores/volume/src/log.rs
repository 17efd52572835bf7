//! The log: frozen layers go in, segments and published extents come out.
//!
//! ```text
//! submit ──► queue ──► pack (compress, fill segments) ──► upload (several at once) ──► publish (in order)
//! ```
//!
//! Layers are published in the order in which they were submitted: so a later write never loses to an earlier one, and what
//! a crash leaves is a prefix. A segment is named only after its PUT was acknowledged: `publish` waits for it.

mod backlog;
mod pack;
mod publish;
mod upload;

pub(crate) use pack::inline_extents;

use self::backlog::Backlog;
use crate::defragment::Fragmented;
use crate::file::{File, Frozen};
use crate::segment::Builder;
use futures::FutureExt;
use object_store::ObjectStore;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use stoa_meta::{FileUpdate, Meta, NewSegment, SegmentId};
use stoa_vfs::{Error, Result};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// Segments that are being uploaded at once.
const UPLOADS_MAX: usize = 8;

/// Between two tries of what the store refuses (what passes by itself is tried again by the layers below).
const AGAIN: Duration = Duration::from_secs(2);

/// A file's data that is no longer than this lives in the namespace, and costs no object.
pub(crate) const INLINE_BYTES: u64 = 16 << 10;

/// The way into the store for file data.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Mutex<VecDeque<Item>>,
    /// Told when something was put into the queue.
    queued: Notify,
    meta: Arc<dyn Meta>,
    store: Arc<dyn ObjectStore>,
    compression_level: u8,
    epoch: u32,
    next_segment: AtomicU32,
    uploads: Arc<Semaphore>,
    uploads_running: AtomicU64,
    backlog: Backlog,
    /// Segments from this one on may hold frames that no extent names yet, though one will.
    unpublished_from: AtomicU64,
    /// Segments that the store refuses at the moment, and why: nothing after the first of them gets through.
    refused: watch::Sender<BTreeMap<SegmentId, String>>,
    /// Why nothing will ever get through again.
    failed: watch::Sender<Option<Error>>,
    files: Arc<crate::file::Files>,
    /// Files that have become fragmented.
    pub(crate) fragmented: Fragmented,
}

/// What the queue holds.
#[derive(Debug)]
enum Item {
    /// A layer to publish.
    Layer(Arc<File>, Arc<Frozen>, Home),
    /// Tell when everything before is published.
    Barrier(oneshot::Sender<()>),
    /// Data to move to a new segment: see [`crate::cleaning`].
    Move(crate::cleaning::Move),
}

/// Where the data of a small layer is to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// In the namespace: it goes into the store with the next commit, and costs no object.
    Namespace,
    /// In a segment, which many share: once there, the namespace never has to copy it again.
    Segment,
}

/// What the packer hands to the publisher, in order.
#[derive(Debug)]
enum Packed {
    /// A segment under way, and what to publish when it has arrived.
    Segment {
        upload: JoinHandle<NewSegment>,
        parcels: Vec<Parcel>,
        /// When these are published, every frame of a segment before this one is named that ever will be.
        settled: SegmentId,
    },
    /// What needs no segment.
    Parcels(Vec<Parcel>),
    Barrier(oneshot::Sender<()>),
}

/// What one layer, or one move, becomes.
#[derive(Debug)]
enum Parcel {
    Layer { file: Arc<File>, frozen: Arc<Frozen>, update: FileUpdate },
    Move { moved: crate::cleaning::Move, new: Vec<stoa_meta::Extent> },
}

/// Segments that are named as far as they ever will be, as it was at one moment: see [`Log::settled`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled {
    epoch: u32,
    below: u64,
}

impl Settled {
    pub(crate) fn holds(self, segment: SegmentId) -> bool {
        segment.epoch() != self.epoch || segment.0 < self.below
    }
}

/// What a [`Log`] works with.
#[derive(Debug)]
pub(crate) struct LogOptions {
    pub(crate) meta: Arc<dyn Meta>,
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) files: Arc<crate::file::Files>,
    pub(crate) compression_level: u8,
    pub(crate) epoch: u32,
}

impl Log {
    /// Starts the tasks; they end when the returned handle is aborted or the process ends.
    pub(crate) fn start(options: LogOptions) -> (Arc<Self>, Vec<JoinHandle<()>>) {
        let log = Arc::new(Self {
            queue: Mutex::default(),
            queued: Notify::new(),
            meta: options.meta,
            store: options.store,
            compression_level: options.compression_level,
            epoch: options.epoch,
            next_segment: AtomicU32::new(0),
            uploads: Arc::new(Semaphore::new(UPLOADS_MAX)),
            uploads_running: AtomicU64::new(0),
            backlog: Backlog::default(),
            unpublished_from: AtomicU64::new(SegmentId::new(options.epoch, 0).0),
            refused: watch::Sender::default(),
            failed: watch::channel(None).0,
            files: options.files,
            fragmented: Fragmented::default(),
        });
        let (packed, to_publish) = mpsc::channel(UPLOADS_MAX);
        let pack = tokio::spawn(Arc::clone(&log).guard(Arc::clone(&log).pack_all(packed)));
        let publish = tokio::spawn(Arc::clone(&log).guard(Arc::clone(&log).publish_all(to_publish)));
        (log, vec![pack, publish])
    }

    /// Says that the tasks are about to be aborted: nobody waits any more for what they would have done.
    pub(crate) fn stop(&self) {
        self.fail_with(Error::Io("the volume is closed".into()));
    }

    /// Whatever ends a task, nobody must wait for ever for what it no longer does.
    async fn guard(self: Arc<Self>, task: impl Future<Output = ()>) {
        if AssertUnwindSafe(task).catch_unwind().await.is_err() {
            tracing::error!("a task of the log panicked");
        }
        // Neither ends by itself while the volume is open. One may see the other's end before its own.
        if self.check().is_ok() {
            self.fail(Error::Io("the log has stopped; mount the volume again".into()));
        }
    }

    /// Puts a layer of a file into the queue. To keep the order of a file's layers, its state is locked meanwhile. The queue
    /// is bounded by the memory budget that layers are written under. A layer of more than [`INLINE_BYTES`] goes into segments wherever
    /// small ones have their `home`.
    pub(crate) fn submit(&self, file: Arc<File>, frozen: Arc<Frozen>, home: Home) {
        self.backlog.grew(frozen.layer.data_bytes());
        self.put(Item::Layer(file, frozen, home));
    }

    /// Slows down who is about to write so much, while more waits to be uploaded than goes out at once.
    pub(crate) async fn pace(&self, bytes: u64) {
        self.backlog.pace(bytes).await;
    }

    /// Puts data that is to be moved into the queue.
    pub(crate) fn submit_move(&self, moved: crate::cleaning::Move) {
        self.put(Item::Move(moved));
    }

    fn put(&self, item: Item) {
        self.queue.lock().push_back(item);
        self.queued.notify_one();
    }

    /// Returns once everything submitted before is published.
    ///
    /// # Errors
    /// When the store refuses (then it is tried again all the same), the right to write is lost, or the volume is closed.
    pub(crate) async fn drain(&self) -> Result<()> {
        self.check()?;
        // A program that keeps asking while the store refuses must not fill the queue with its questions.
        if let Some(reason) = self.refused.borrow().values().next() {
            return Err(Error::Io(reason.clone()));
        }
        let (done, wait) = oneshot::channel();
        self.put(Item::Barrier(done));
        let (mut refused, mut failed) = (self.refused.subscribe(), self.failed.subscribe());
        tokio::select! {
            biased;
            Ok(()) = wait => return Ok(()),
            _ = failed.wait_for(Option::is_some) => self.check()?,
            refused = refused.wait_for(|refused| !refused.is_empty()) => {
                if let Some(reason) = refused.as_ref().ok().and_then(|refused| refused.values().next()) {
                    return Err(Error::Io(reason.clone()));
                }
            }
        }
        Err(Error::Io("the log has stopped".into()))
    }

    /// # Errors
    /// Why nothing can be published any more, if so.
    pub(crate) fn check(&self) -> Result<()> {
        self.failed.borrow().clone().map_or(Ok(()), Err)
    }

    /// Waits until nothing can be published any more, and says why.
    pub(crate) async fn failure(&self) -> Error {
        let mut failed = self.failed.subscribe();
        match failed.wait_for(Option::is_some).await.map(|error| error.clone()) {
            Ok(Some(error)) => error,
            _ => Error::Io("the log has stopped".into()),
        }
    }

    pub(crate) fn fail(&self, error: Error) {
        tracing::error!(%error, "nothing can be written to the volume any more");
        self.fail_with(error);
    }

    fn fail_with(&self, error: Error) {
        self.failed.send_if_modified(|failed| failed.is_none().then(|| *failed = Some(error)).is_some());
    }

    pub(crate) fn uploads_running(&self) -> u64 {
        self.uploads_running.load(Ordering::Relaxed)
    }

    /// The segments of which every frame that ever gets an extent has it by now.
    pub(crate) fn settled(&self) -> Settled {
        Settled { epoch: self.epoch, below: self.unpublished_from.load(Ordering::Acquire) }
    }

    /// Whether this mount may still be writing the segment.
    pub(crate) fn is_own(&self, segment: SegmentId) -> bool {
        segment.epoch() >= self.epoch
    }

    fn new_builder(&self) -> Builder {
        Builder::new(SegmentId::new(self.epoch, self.next_segment.fetch_add(1, Ordering::Relaxed)))
    }
}
