//! How much memory a mount may use when nobody says.

use crate::allocator::KEPT_LEAST;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The most that is taken without being asked for.
const DEFAULT_MAX: u64 = 4 << 30;
/// The least that a volume works with.
pub(crate) const LEAST: u64 = 64 << 20;

/// The ceiling of a mount's memory: what was asked for, else a quarter of what this process may use, at most 4 GiB.
pub(crate) fn memory(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(|| share(limit(Path::new("/"))))
}

fn share(limit: Option<u64>) -> u64 {
    // Without any known limit, what a small machine can bear.
    limit.map_or(512 << 20, |limit| limit / 4).clamp(LEAST, DEFAULT_MAX)
}

/// How many requests the kernel may have under way for nobody in particular: a sixteenth of the memory, if each is a write of a MiB.
pub(crate) fn background_max(memory_bytes_max: u64) -> u16 {
    u16::try_from(memory_bytes_max >> 24).unwrap_or(u16::MAX).clamp(8, 64)
}

/// How many buffers of a MiB are kept for the next writes, with those in use: a quarter of the memory, which a store may hold as written data.
pub(crate) fn buffers_max(memory_bytes_max: u64) -> usize {
    usize::try_from(memory_bytes_max >> 22).unwrap_or(usize::MAX) + 2 * usize::from(background_max(memory_bytes_max))
}

/// How long freed memory is kept for what needs some next: the more of it there may be, the longer.
pub(crate) fn freed_memory_kept(memory_bytes_max: u64) -> Duration {
    let kept = Duration::from_millis(memory_bytes_max >> 23);
    kept.clamp(KEPT_LEAST, Duration::from_secs(1))
}

/// How much written data the kernel may hold back for a mount: a good deal less than the mount itself, so that it is sent while it is written.
pub(crate) fn dirty_bytes_max(memory_bytes_max: u64) -> u64 {
    (memory_bytes_max / 16).clamp(32 << 20, 128 << 20)
}

/// The memory this process may use: the least of RAM and the limits of its cgroup and those above it. `root` is `/`, but in tests.
fn limit(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut limits: Vec<u64> = groups.lines().flat_map(|line| group_limits(root, line)).collect();
    limits.extend(ram(root));
    limits.into_iter().min()
}

/// The limits that one line of /proc/self/cgroup leads to, `HIERARCHY:CONTROLLERS:PATH`: a group's own and its ancestors'.
fn group_limits(root: &Path, line: &str) -> Vec<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
        return Vec::new();
    };
    let (top, file) = if controllers.is_empty() {
        (root.join("sys/fs/cgroup"), "memory.max")
    } else if controllers.split(',').any(|name| name == "memory") {
        (root.join("sys/fs/cgroup/memory"), "memory.limit_in_bytes")
    } else {
        return Vec::new();
    };
    let own = top.join(group.trim_start_matches('/'));
    // Inside a container the path may name a group of the host that can't be seen here; the top is then this one's own.
    own.ancestors()
        .take_while(|dir| dir.starts_with(&top))
        .filter_map(|dir| fs::read_to_string(dir.join(file)).ok()?.trim().parse().ok())
        .collect()
}

fn ram(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests;
