//! Limits of the kernel's page cache that are set per mount.

use super::table;
use crate::MountOptions;
use std::fs;
use std::path::Path;

/// The share of the machine's dirty pages, in per cent, that the mount may hold where it can't be said in bytes. The kernel gives FUSE 1 %
/// and enforces it strictly, which stalls writers on any machine; half leaves room for the disks below.
const DIRTY_PERCENT_MAX: u32 = 50;

/// Sets what the kernel allows the mount at `dir`. Only root may, and nothing depends on it but speed.
pub(super) fn set_limits(dir: &Path, options: &MountOptions) {
    let Some(entry) = table::find(dir) else { return };
    let knobs = Path::new("/sys/class/bdi").join(entry.device);
    let set = |knob: &str, value: u64| {
        let written = fs::write(knobs.join(knob), value.to_string());
        if let Err(error) = &written {
            tracing::debug!(knob, value, %error, "cannot set a limit of the mount");
        }
        written.is_ok()
    };
    set("max_ratio", DIRTY_PERCENT_MAX.into());
    // Half of a strict limit is where the kernel begins to write. Without one that is a tenth of the machine's memory, and a program
    // that writes less than that has all of it sent only when it comes to its fsync.
    let strict = set("max_bytes", options.dirty_bytes_max);
    set("strict_limit", strict.into());
    set("read_ahead_kb", u64::from(options.readahead_bytes / 1024));
}
