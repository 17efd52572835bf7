//! What a process leaves that served a mount and was killed: a directory in which every call fails with ENOTCONN, until it is
//! unmounted.

use crate::control;
use crate::failure::{Failure, Outcome};
use crate::{mounts, output};
use std::path::Path;

/// Whether the mount on `dir` is a dead one.
pub(super) fn is(dir: &Path) -> bool {
    control::find(|record| Path::new(&record.mountpoint) == dir).is_none() && mounts::is_dead(dir)
}

/// Unmounts the dead mount of `source` on `dir`, also under programs that still have files open there: no call of theirs can
/// succeed any more, so nothing is taken from them.
pub(super) fn clear(dir: &Path, source: &str) -> Outcome<()> {
    let shown = dir.display();
    stoa_fuse::unmount(dir, true).map_err(|error| {
        let what = format_args!("{source} is mounted on {shown}, its process is gone, and it can't be unmounted");
        Failure::because(what, &error).advise(format!("`umount -l {shown}` as root unmounts it"))
    })?;
    output::note(format_args!("stoa: the process that served {source} on {shown} is gone: cleared what it left there"));
    Ok(())
}
