//! The conversation with the kernel about one mount.

mod answer;
mod buffer;
mod device;
mod init;
mod interrupts;
mod reply;
mod task;
mod worker;
mod writers;

pub(crate) use answer::{Answer, Outcome, Payload, Taken};
pub(crate) use buffer::Pool;
pub(crate) use device::{Device, PATH as DEVICE_PATH};
pub(crate) use init::{Agreement, Store, WRITE_BYTES_MAX, handshake};

use crate::stats::OpStats;
use interrupts::Interrupts;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use stoa_vfs::{CachePolicy, Ino, Vfs};
use stoa_wire_fuse::notify;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{self, error::TryRecvError};
use writers::Writers;

/// How long the kernel may believe what only it can change: the longest that every kernel counts without overflow.
const FOREVER: Duration = Duration::from_secs(1_000_000_000);

/// What the worker threads and the requests under way share.
pub(crate) struct Session {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) policy: CachePolicy,
    pub(crate) agreement: Agreement,
    pub(crate) stats: Arc<OpStats>,
    pub(crate) writers: Writers,
    /// For what the kernel is told unasked.
    notices: OnceLock<Device>,
    runtime: Handle,
    interrupts: Interrupts,
    pool: Arc<Pool>,
}

/// Held by whatever still works for a mount; the mount has ended when all are dropped.
pub(crate) type Alive = mpsc::Sender<()>;

impl Session {
    pub(crate) fn new(vfs: Arc<dyn Vfs>, agreement: Agreement, runtime: Handle, pool: Arc<Pool>) -> Arc<Self> {
        Arc::new(Self {
            policy: vfs.cache_policy(),
            vfs,
            agreement,
            stats: Arc::new(OpStats::default()),
            writers: Writers::default(),
            notices: OnceLock::new(),
            runtime,
            interrupts: Interrupts::default(),
            pool,
        })
    }

    /// How long names and attributes stay valid.
    pub(crate) fn ttl(&self) -> Duration {
        if self.policy.exclusive { FOREVER } else { Duration::from_millis(self.policy.ttl_ms) }
    }

    /// Has the kernel send the pages of a file that were written and that it still holds, if there can be any. The kernel drops
    /// the file's cached pages with that.
    pub(crate) async fn fetch_written(self: &Arc<Self>, ino: Ino) {
        if !self.policy.exclusive || !self.writers.has(ino) {
            return;
        }
        let session = Arc::clone(self);
        // The kernel answers this only after the workers have served its writes: it must not be one of them that waits.
        let told = tokio::task::spawn_blocking(move || session.tell(ino, 0)).await;
        if let Err(error) = told {
            tracing::debug!(%error, %ino, "the kernel was not asked for written pages");
        }
    }

    /// Has the kernel ask anew for the attributes of a file.
    pub(crate) fn forget_attributes(&self, ino: Ino) {
        self.tell(ino, -1);
    }

    /// Tells the kernel that what it knows of a file is void, with its pages if `offset` is not negative.
    fn tell(&self, ino: Ino, offset: i64) {
        let told = self.notices.get().map_or(Ok(()), |device| device.tell(&notify::invalidate_inode(ino.0, offset, 0)));
        if let Err(error) = told {
            tracing::debug!(%error, %ino, "the kernel was not told to forget a file");
        }
    }

    /// The files of which the kernel may hold written pages.
    pub(crate) fn maybe_written(&self) -> Vec<Ino> {
        if self.policy.exclusive { self.writers.all() } else { Vec::new() }
    }

    /// Starts the worker threads, and returns what tells of their end.
    ///
    /// # Errors
    /// When a thread can't be started. Those that were end with the mount.
    pub(crate) fn start(self: &Arc<Self>, device: Device, workers: usize) -> io::Result<Ended> {
        // Nothing is ever sent: the channel tells when its last sender is gone.
        let (alive, ended) = mpsc::channel(1);
        drop(self.notices.set(device.same()?));
        for number in 1..workers {
            let device = device.another()?;
            worker::spawn(number, Arc::clone(self), device, alive.clone())?;
        }
        worker::spawn(0, Arc::clone(self), device, alive)?;
        Ok(Ended(Mutex::new(ended)))
    }
}

/// Tells when a session is over.
pub(crate) struct Ended(Mutex<mpsc::Receiver<()>>);

impl Ended {
    /// Waits until every worker has ended and every request was answered.
    pub(crate) async fn wait(&self) {
        let mut receiver = self.0.lock().await;
        while receiver.recv().await.is_some() {}
    }

    /// Whether that is so now.
    pub(crate) fn is_over(&self) -> bool {
        self.0.try_lock().is_ok_and(|mut receiver| receiver.try_recv() == Err(TryRecvError::Disconnected))
    }
}
