//! Work on a volume that is not mounted here: it is opened for the length of the command.

use crate::args::Access;
use crate::daemon::Signals;
use crate::failure::{Failure, Outcome};
use crate::output::Meter;
use crate::store::{Place, volume_failure};
use crate::{owner, resources};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use stoa_volume::{OpenOptions, Volume};

/// How long an outage of the store is waited out; a person waits here.
const OUTAGE_MAX: Duration = Duration::from_secs(300);

/// How to open it.
#[derive(Debug)]
pub(super) struct Opening<'a> {
    /// Where it is.
    pub(super) place: &'a Place,
    /// How to get there.
    pub(super) access: &'a Access,
    /// With how much memory.
    pub(super) memory: Option<u64>,
    /// Whether to shut out another owner.
    pub(super) take_over: bool,
    /// What for, in the words that others see who are refused meanwhile.
    pub(super) purpose: &'static str,
}

/// Opens a volume, does `work`, and closes it, also after ^C.
pub(super) fn with_volume<W>(opening: &Opening<'_>, work: W) -> Outcome<Value>
where
    W: AsyncFnOnce(Arc<Volume>, &Meter) -> Result<Value, String>,
{
    super::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let name = opening.place.name();
        let meter = Meter::new("opening");
        let interrupted = || Failure::new(format!("{} of {name} was interrupted", opening.purpose)).code_is(130);
        let volume = tokio::select! {
            volume = open(opening, &name) => volume?,
            () = signals.next() => return Err(interrupted()),
        };
        let result = tokio::select! {
            result = work(Arc::clone(&volume), &meter) => result.map_err(|why| Failure::new(format!("{name}: {why}"))),
            () = signals.next() => Err(interrupted()),
        };
        meter.show("closing", 0, 0);
        let closed = tokio::select! {
            closed = volume.close() => closed.map_err(|error| volume_failure(&name, &error)),
            () = signals.next() => Err(interrupted()),
        };
        // What went wrong first is what counts.
        let value = result?;
        closed.map(|()| value)
    })
}

async fn open(opening: &Opening<'_>, name: &str) -> Outcome<Arc<Volume>> {
    let store = opening.place.connect(opening.access).await?.patient_for(OUTAGE_MAX);
    let options = OpenOptions {
        take_over: opening.take_over,
        memory_bytes_max: resources::memory(opening.memory),
        ..OpenOptions::new(owner::owner(opening.purpose)?)
    };
    Volume::open(store, options).await.map_err(|error| volume_failure(name, &error))
}
