//! Limits of the kernel's page cache that are set per mount.

use super::table;
use std::fs;
use std::path::Path;

/// The share of the machine's dirty pages, in per cent, that the mount may hold. The kernel gives FUSE 1 % and enforces it
/// strictly, which stalls writers on any machine; half leaves room for the disks below.
const DIRTY_PERCENT_MAX: u32 = 50;

/// Raises what the kernel allows the mount at `dir`. Only root may, and nothing depends on it but speed.
pub(super) fn raise_limits(dir: &Path, readahead_bytes: u32) {
    let Some(entry) = table::find(dir) else { return };
    let knobs = Path::new("/sys/class/bdi").join(entry.device);
    let set = |knob: &str, value: u32| {
        if let Err(error) = fs::write(knobs.join(knob), value.to_string()) {
            tracing::debug!(knob, value, %error, "cannot raise a limit of the mount");
        }
    };
    set("max_ratio", DIRTY_PERCENT_MAX);
    set("strict_limit", 0);
    set("read_ahead_kb", readahead_bytes / 1024);
}
