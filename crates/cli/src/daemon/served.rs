//! What the process behind a mount answers when it is asked (over its control socket).

use super::backing::Backing;
use super::count::Counted;
use super::health::StoreHealth;
use crate::control::{Answers, Record, Request, Steps};
use crate::metrics::{Snapshot, StoreFigures};
use crate::mounts;
use serde_json::{Value, json};
use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use stoa_fuse::{Mount, OpStats, Pages};
use stoa_objects::BenchOptions;
use stoa_vfs::Ino;
use stoa_volume::FsckOptions;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};

/// The most extents that one answer holds.
const LISTED_MAX: usize = 100_000;
/// How long measuring the store waits out an outage.
const BENCH_OUTAGE_MAX: Duration = Duration::from_secs(60);
/// How often waiting for the store is told of.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// Where in its life a mount is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not mounted yet.
    Starting,
    /// In use.
    Mounted,
    /// Unmounted; what it holds goes into the store.
    Closing,
    /// At its end: in order, or why not.
    Closed(Result<(), String>),
}

impl Phase {
    fn name(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Mounted => "mounted",
            Self::Closing => "closing",
            Self::Closed(_) => "closed",
        }
    }
}

/// What is asked of the door.
#[derive(Debug)]
struct Door {
    stats: Arc<OpStats>,
    pages: Pages,
}

/// A mount, to be asked.
#[derive(Debug)]
pub(super) struct Served {
    backing: Backing,
    record: Record,
    phase: watch::Sender<Phase>,
    door: OnceLock<Door>,
    began: Instant,
}

impl Served {
    /// `backing`, mounted as `record` says. It has counted since `began`.
    pub(super) fn new(backing: Backing, record: Record, began: Instant) -> Self {
        Self { backing, record, phase: watch::Sender::new(Phase::Starting), door: OnceLock::new(), began }
    }

    /// Is told of the door, once there is one.
    pub(super) fn mounted(&self, mount: &Mount) {
        // There is one mount, and it is told once.
        let _ = self.door.set(Door { stats: Arc::clone(mount.stats()), pages: mount.pages().clone() });
        self.enter(Phase::Mounted);
    }

    /// What has been counted so far.
    pub(super) fn snapshot(&self) -> Snapshot {
        Counted {
            mountpoint: &self.record.mountpoint,
            store_name: &self.record.store,
            age: self.began.elapsed(),
            door: self.door.get().map(|door| door.stats.as_ref()),
            backing: &self.backing,
        }
        .snapshot()
    }

    /// Goes on to `phase`.
    pub(super) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// What is not in the store yet, and what is wrong with the store, if anything is.
    pub(super) fn pending(&self) -> String {
        let mut text = self.backing.pending();
        if let Some(trouble) = StoreHealth::of(&self.backing).trouble() {
            text.push_str("; the store fails: ");
            text.push_str(trouble);
        }
        text
    }

    fn status(&self) -> Result<Value, String> {
        let mut status = json!(self.record);
        if let Some(fields) = status.as_object_mut() {
            fields.insert("state".into(), self.state().into());
            let (what, how) = self.backing.status();
            fields.insert(what.into(), how);
            fields.insert("store_health".into(), json!(StoreHealth::of(&self.backing)));
        }
        Ok(status)
    }

    fn state(&self) -> &'static str {
        let is_mounted = || mounts::at(Path::new(&self.record.mountpoint)).is_ok_and(|mount| mount.is_some());
        match &*self.phase.borrow() {
            // Detached (umount -l), it lives on for the files that are open.
            Phase::Mounted if !is_mounted() => "detached",
            phase => phase.name(),
        }
    }

    async fn make_durable(&self) -> Result<Value, String> {
        // Pages that only the kernel has come first. Once unmounted there are none, and the path is someone else's.
        let is_mounted = *self.phase.borrow() == Phase::Mounted;
        if let Some(door) = self.door.get().filter(|_| is_mounted) {
            write_back(&door.pages).await?;
        }
        self.backing.make_durable().await.map_err(|error| error.to_string())?;
        Ok(json!({ "synced": true }))
    }

    async fn closed(&self) -> Result<Value, String> {
        let mut phase = self.phase.subscribe();
        let ended =
            phase.wait_for(|phase| matches!(phase, Phase::Closed(_))).await.map_err(|error| error.to_string())?;
        match &*ended {
            Phase::Closed(Err(why)) => Err(why.clone()),
            _ => Ok(json!({ "closed": true })),
        }
    }

    /// Checks the volume on a thread of its own: it computes a lot between two waits, and those who serve the mount are few.
    async fn check(&self, options: FsckOptions, steps: Steps) -> Result<Value, String> {
        let (volume, runtime) = (Arc::clone(self.backing.volume()?), Handle::current());
        // Dropped with this future, which ends the check.
        let (_wanted, unwanted) = oneshot::channel::<()>();
        let check = move || {
            runtime.block_on(async {
                tokio::select! {
                    report = volume.fsck(options, &steps) => report.map_err(|error| error.to_string()),
                    _ = unwanted => Err("interrupted".into()),
                }
            })
        };
        let report = tokio::task::spawn_blocking(check).await.map_err(|error| error.to_string())??;
        // It lists only so many problems, and says so itself.
        limited(&report, "")
    }

    /// Measures the store, on a thread of its own that goes on without whoever asked: it removes what it put there.
    async fn bench(&self, bytes: u64, steps: Steps) -> Result<Value, String> {
        let store = self.backing.store().await?.patient_for(BENCH_OUTAGE_MAX);
        let options = BenchOptions { bytes, ..BenchOptions::default() };
        let stop = Arc::new(AtomicBool::new(false));
        let _unwanted = StopWhenDropped(Arc::clone(&stop));
        let runtime = Handle::current();
        let measure = move || {
            let heard = |stage: &'static str, done, total| steps.report(stage, done, total);
            let report = runtime.block_on(stoa_objects::bench(store.as_ref(), &options, &stop, &heard));
            report.inspect_err(|error| tracing::warn!(%error, "measuring the store"))
        };
        let report = tokio::task::spawn_blocking(measure).await.map_err(|error| error.to_string())?;
        let report = report.map_err(|error| error.to_string())?;
        report.map(|report| json!(StoreFigures::from(&report))).ok_or_else(|| "interrupted".into())
    }

    /// Does `work`, telling how much is still to go into the store.
    async fn telling<T>(&self, steps: &Steps, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(TELL_EVERY) => steps.report(self.pending(), 0, 0),
            }
        }
    }
}

/// Tells work of which nobody wants to hear any more to end.
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Answers for Served {
    async fn answer(&self, request: Request, steps: &Steps) -> Result<Value, String> {
        match request {
            Request::Status => self.status(),
            Request::Bench { bytes } => self.bench(bytes, steps.clone()).await,
            Request::Metrics => Ok(json!(self.snapshot())),
            Request::Sync => self.telling(steps, self.make_durable()).await,
            Request::ShutdownWait => self.telling(steps, self.closed()).await,
            Request::Fsck { repair: true, .. } => Err(not_while_mounted(&self.record.mountpoint)),
            Request::Fsck { data, repair } => self.check(FsckOptions { data, repair }, steps.clone()).await,
            Request::Gc => {
                let report = self.backing.volume()?.gc(steps).await.map_err(|error| error.to_string())?;
                limited(&report, "")
            }
            Request::Info { ino } => self.backing.file_info(Ino(ino)).await,
        }
    }
}

/// Why a mount does not repair its volume: what a check counted is not so any more when it is set right, while files change.
fn not_while_mounted(mountpoint: &str) -> String {
    format!("a mounted volume can't be repaired; unmount it first (`stoa umount {mountpoint}`), then repeat this")
}

/// Has the kernel write back every page it holds.
pub(super) async fn write_back(pages: &Pages) -> Result<(), String> {
    let pages = pages.clone();
    let work = move || pages.write_back();
    // It is this process that the kernel writes to: a thread that serves must not be the one that waits.
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// `report` as JSON, of whose array `list` only so much is kept as an answer may hold; what is left out is counted.
pub(crate) fn limited(report: &impl serde::Serialize, list: &str) -> Result<Value, String> {
    let mut value = serde_json::to_value(report).map_err(|error| error.to_string())?;
    let listed = value.get_mut(list).and_then(Value::as_array_mut);
    let left_out = listed.map_or(0, |listed| {
        let left_out = listed.len().saturating_sub(LISTED_MAX);
        listed.truncate(LISTED_MAX);
        left_out
    });
    if let (Some(fields), true) = (value.as_object_mut(), left_out > 0) {
        fields.insert(format!("{list}_left_out"), left_out.into());
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
