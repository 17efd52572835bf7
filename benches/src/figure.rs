//! One measurement.

use crate::process;
use crate::proxy::Traffic;
use crate::store::Store;
use anyhow::Result;
use serde::Serialize;
use std::time::{Duration, Instant};

/// What something cost.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) seconds: f64,
    /// Of the client: the process behind the mount. None where there is none.
    pub(crate) cpu_seconds: Option<f64>,
    pub(crate) peak_bytes: Option<u64>,
    /// At the store. None where there is none.
    pub(crate) traffic: Option<Traffic>,
    /// What else a row is about: name, value.
    pub(crate) more: Vec<(&'static str, f64)>,
}

impl Figure {
    pub(crate) fn with(mut self, name: &'static str, value: f64) -> Self {
        self.more.push((name, value));
        self
    }
}

/// Measures `work`, done through the processes `clients` in `store`.
pub(crate) fn measure<T>(
    clients: &[u32],
    store: Option<&Store>,
    work: impl FnOnce() -> Result<T>,
) -> Result<(Figure, T)> {
    clients.iter().try_for_each(|&pid| process::forget_peak(pid))?;
    let cpu = || clients.iter().map(|&pid| process::cpu(pid)).sum::<Result<Duration>>();
    let traffic = || store.and_then(Store::traffic);
    let (cpu_before, traffic_before) = (cpu()?, traffic());
    let started = Instant::now();
    let result = work()?;
    let seconds = started.elapsed().as_secs_f64();
    let traffic = traffic().zip(traffic_before).map(|(after, before)| after - before);
    let cpu = cpu()?.saturating_sub(cpu_before);
    let peak = clients.iter().map(|&pid| process::peak(pid)).sum::<Result<u64>>()?;
    let served = !clients.is_empty();
    let figure = Figure {
        seconds,
        cpu_seconds: served.then_some(cpu.as_secs_f64()),
        peak_bytes: served.then_some(peak),
        traffic,
        more: Vec::new(),
    };
    Ok((figure, result))
}
