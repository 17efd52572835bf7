//! What the kernel knows about a process.

use anyhow::{Context, Result};
use std::fs;
use std::time::Duration;

/// Processor time used so far, by all its threads, in user and kernel mode.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("the process is gone")?;
    // The name of the program stands in brackets, and may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("/proc/PID/stat")?;
    let ticks = |number: usize| fields.split_whitespace().nth(number)?.parse::<u64>().ok();
    let ticks = ticks(11).zip(ticks(12)).map(|(user, system)| user + system).context("/proc/PID/stat")?;
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_micros(ticks * 1_000_000 / per_second))
}

/// Most memory held at once since [`forget_peak`], in bytes.
pub(crate) fn peak(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().context("VmHWM")?;
    Ok(kib << 10)
}

/// Has the peak begin again from what the process holds now.
pub(crate) fn forget_peak(pid: u32) -> Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("/proc/PID/clear_refs")
}
