//! The life of the process behind a mount.

use super::backing::Backing;
use super::exporter::Exporter;
use super::fork::Readiness;
use super::health::rfc3339;
use super::served::{Phase, Served, write_back};
use super::{Announcement, Plan, Signals};
use crate::allocator;
use crate::control::{self, Claim, Record, Registry};
use crate::failure::{Failure, Outcome};
use crate::output::Meter;
use crate::owner;
use crate::store::volume_failure;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use stoa_fuse::Mount;
use stoa_vfs::Vfs;
use stoa_volume::{FormatOptions, Volume};
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Does what `plan` says, from opening the volume to closing it, and tells `readiness` when it is mounted.
pub(crate) fn run(plan: &Plan, readiness: &Readiness) -> Outcome<()> {
    allocator::give_back_after(plan.freed_memory_kept());
    let served = plan.log.start().and_then(|()| {
        let runtime = crate::commands::runtime()?;
        let served = runtime.block_on(serve(plan, readiness));
        // A thread that hangs in a system call has nothing left to say.
        runtime.shutdown_timeout(Duration::from_secs(2));
        served
    });
    if let Err(failure) = &served {
        tracing::error!("{}", failure.what());
        readiness.failed(failure);
    }
    served
}

async fn serve(plan: &Plan, readiness: &Readiness) -> Outcome<()> {
    let (began, mut signals) = (Instant::now(), Signals::listen()?);
    let exporter = match plan.metrics {
        Some(address) => Some(Exporter::bind(address).await?),
        None => None,
    };
    let Opened { backing, created, empty } = tokio::select! {
        opened = open(plan, readiness) => opened?,
        () = signals.next() => return Err(interrupted(plan)),
        () = readiness.abandoned() => return Err(interrupted(plan)),
    };
    let record = record(plan, exporter.as_ref().map(Exporter::url))?;
    let served = Arc::new(Served::new(backing.clone(), record.clone(), began));
    let mounted = async {
        let control = Control::open(&record, &served)?;
        readiness.stage(&format!("mounting on {}", record.mountpoint));
        Ok::<_, Failure>((control, mount(plan, backing.vfs()).await?))
    };
    let (control, mount) = match mounted.await {
        Ok(mounted) => mounted,
        Err(failure) => {
            // Nothing was written, so all there is to do is to give it back.
            if let Err(failure) = backing.close().await {
                tracing::error!("{}", failure.what());
            }
            return Err(failure);
        }
    };
    served.mounted(&mount);
    // Until the volume is closed: an end that takes long is worth watching.
    let exporting = exporter.map(|exporter| exporter.serve(Arc::clone(&served)));
    tracing::info!(mountpoint = record.mountpoint, store = record.store, created, "mounted");
    let announcement = Announcement { record, created, empty, allow_other: plan.allow_other() };
    if readiness.ready(&announcement, plan.json) {
        until_unmounted(&mount, &mut signals).await;
    } else {
        unmount(&mount).await;
    }
    let closed = close(&backing, &served, &mut signals).await;
    drop(exporting);
    control.end(&served, &closed).await;
    // What is mounted there by now may be another volume, which dropping this would detach.
    std::mem::forget(mount);
    closed
}

/// What was opened.
struct Opened {
    backing: Backing,
    /// Whether it is a volume that was made just now.
    created: bool,
    /// Whether it is a place for objects without any.
    empty: bool,
}

async fn open(plan: &Plan, readiness: &Readiness) -> Outcome<Opened> {
    let name = plan.place.name();
    readiness.stage(&format!("opening {name}"));
    if let Some(objects) = &plan.objects {
        let (bucket, empty) = objects.open(plan).await?;
        return Ok(Opened {
            backing: Backing::Objects(bucket, plan.place.clone(), plan.access.clone()),
            created: false,
            empty,
        });
    }
    let store = plan.place.connect(&plan.access).await?;
    let mut created = false;
    if plan.create {
        let options = FormatOptions { root_uid: control::uid(), root_gid: control::gid(), ..FormatOptions::default() };
        match stoa_volume::format(Arc::clone(&store.store), &options).await {
            Ok(_) => created = true,
            Err(stoa_volume::Error::Exists(_)) => {}
            Err(error) => return Err(volume_failure(&name, &error)),
        }
    }
    let opened = Volume::open(Arc::clone(&store.store), plan.open_options()?).await;
    let volume = opened.map_err(|error| volume_failure(&name, &error))?;
    Ok(Opened { backing: Backing::Volume(volume, store), created, empty: false })
}

async fn mount(plan: &Plan, vfs: Arc<dyn Vfs>) -> Outcome<Mount> {
    let (dir, options, runtime) = (plan.dir.clone(), plan.mount_options(), Handle::current());
    // It asks the mount whether it answers, and it is this runtime that answers.
    let mounting = tokio::task::spawn_blocking(move || Mount::new(vfs, &dir, options, runtime));
    let mounted = mounting.await.map_err(|error| Failure::of(&error))?;
    mounted.map_err(|error| Failure::because("can't mount", &error))
}

async fn until_unmounted(mount: &Mount, signals: &mut Signals) {
    tokio::select! {
        () = mount.wait() => tracing::info!("unmounted"),
        () = signals.next() => {
            tracing::info!("asked to end by a signal: unmounting");
            unmount(mount).await;
        }
    }
}

/// Unmounts, though files may be open: this process is going to end in any case.
async fn unmount(mount: &Mount) {
    if let Err(error) = mount.unmount(false).await {
        tracing::warn!(%error, "detaching instead");
        // Detached, the mount would keep pages back until the last file is closed; that must not be after the end.
        if let Err(error) = write_back(mount.pages()).await {
            tracing::error!(error, "the kernel could not write back its pages");
        }
        if let Err(error) = mount.unmount(true).await {
            tracing::error!(%error, "unmounting");
        }
    }
}

/// Makes everything durable and gives the store back, for as long as it takes. While the store is away this goes on, and
/// `stoa status` shows it.
async fn close(backing: &Backing, served: &Served, signals: &mut Signals) -> Outcome<()> {
    served.enter(Phase::Closing);
    let meter = Meter::new("closing");
    let closing = backing.close();
    tokio::pin!(closing);
    loop {
        tokio::select! {
            closed = &mut closing => {
                tracing::info!(in_order = closed.is_ok(), "closed");
                return closed.map_err(|failure| match backing.lost() {
                    Some(lost) => failure.and(format_args!("lost: {lost}")),
                    None => failure,
                });
            }
            () = signals.next() => {
                let pending = served.pending();
                tracing::warn!("still closing: {pending}; only `kill -9 {}` abandons that", std::process::id());
            }
            () = tokio::time::sleep(Duration::from_secs(1)) => meter.show(&served.pending(), 0, 0),
        }
    }
}

/// The record of this mount and the task that answers questions.
struct Control {
    claim: Claim,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Control {
    fn open(record: &Record, served: &Arc<Served>) -> Outcome<Self> {
        let claim = Registry::own().claim(record)?;
        let listener = UnixListener::bind(claim.socket())
            .map_err(|error| Failure::because(format_args!("control socket {}", claim.socket().display()), &error))?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(control::serve(listener, record.uid, Arc::clone(served), stopped));
        Ok(Self { claim, stop, task })
    }

    /// Tells whoever waits how it ended. The record goes first: who hears of the end may look whether anything is left.
    async fn end(self, served: &Served, closed: &Outcome<()>) {
        drop(self.claim);
        served.enter(Phase::Closed(closed.as_ref().map(|_| ()).map_err(|failure| failure.what().to_owned())));
        // If the task is gone already, so is everybody who waits.
        let _ = self.stop.send(());
        let _ = self.task.await;
    }
}

fn record(plan: &Plan, metrics: Option<String>) -> Outcome<Record> {
    let owner = owner::owner(plan.mountpoint())?;
    Ok(Record {
        mountpoint: plan.mountpoint(),
        store: plan.place.name(),
        endpoint: plan.access.endpoint.clone(),
        pid: owner.pid,
        pid_started: owner.pid_started,
        uid: control::uid(),
        started: rfc3339(SystemTime::now()),
        read_only: plan.read_only(),
        log: plan.log.file().map(|path| path.display().to_string()),
        metrics,
    })
}

fn interrupted(plan: &Plan) -> Failure {
    Failure::new(format!("interrupted; {} was not mounted", plan.place.name())).code_is(130)
}
