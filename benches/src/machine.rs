//! Where the figures come from.

use crate::options::Options;
use anyhow::Result;
use std::fs;
use std::time::Duration;
use stoa_tests::command::{program, run};
use stoa_tests::{StoreKind, tools};

/// One sentence: machine, versions, server.
pub(crate) fn describe(options: &Options) -> Result<String> {
    let limit = Duration::from_secs(10);
    let cpu = fs::read_to_string("/proc/cpuinfo")?;
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    let cores = std::thread::available_parallelism()?;
    let memory = memory_kib("MemTotal")?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let stoa = run(program(tools::stoa()?).arg("--version"), limit)?;
    let commit = run(program("git").args(["describe", "--always", "--dirty"]).current_dir(tools::workspace()?), limit)?;
    let server = match StoreKind::s3() {
        // Built by `go install` it calls itself "git": the version is the one that `cargo xtask setup` pins.
        StoreKind::Versitygw => "versitygw, on the same machine and disk",
        _ => "s3s, in memory, in the process of the bench",
    };
    Ok(format!(
        "{} ({}), Linux {}, {cores} cores of {}, {} GiB of memory; S3 server: {server}; medians of {}, large file of {} MiB",
        stoa.trim(),
        commit.trim(),
        kernel.trim(),
        cpu.trim_start_matches([':', '\t', ' ']),
        memory >> 20,
        options.runs,
        options.size,
    ))
}

/// So many times the large file is what a row takes at most: its parts, its object, caches here and there.
const COPIES: usize = 6;

/// Writes to as much memory as a row with a file of `size` bytes may take, and gives it back.
///
/// A virtual machine hands what is free to its host, which takes its time to give it back: a write of 1 GiB took 2.9 s after this, and
/// 7.5 s without. Whoever was measured first would pay for all.
///
/// # Errors
/// If it can't be found out how much there is.
pub(crate) fn touch_memory(size: usize) -> Result<()> {
    let bytes = (size * COPIES).min((memory_kib("MemAvailable")? << 10) / 2);
    let touched = vec![1_u8; bytes];
    std::hint::black_box(&touched);
    Ok(())
}

/// What `/proc/meminfo` says of a kind of memory, in KiB; 0 if nothing.
fn memory_kib(kind: &str) -> Result<usize> {
    let info = fs::read_to_string("/proc/meminfo")?;
    let value = info.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(':'));
    Ok(value.and_then(|value| value.split_whitespace().next()?.parse().ok()).unwrap_or(0))
}
