//! Which live mount a STORE or DIR on the command line means.

use crate::control::{self, Record};
use crate::failure::{Failure, Outcome};
use crate::mounts;
use crate::store::Place;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What was meant.
#[derive(Debug)]
pub(super) enum Target {
    /// A mount of this host, with its control socket.
    Live(Record, PathBuf),
    /// A store that is not mounted here.
    Store(Place),
}

/// Finds out what `text` means: the directory of a mount, or else a store, behind `endpoint` if that is given.
pub(super) fn find(text: &str, endpoint: Option<&str>) -> Outcome<Target> {
    // The directory of a mount is recognised without touching it, because the mount may hang.
    if !text.contains("://")
        && let Ok(dir) = mounts::resolve(Path::new(text))
        && let Some(mounted) = mounts::at(&dir)?
    {
        return match control::find(|record| Path::new(&record.mountpoint) == dir) {
            Some((record, socket)) => Ok(Target::Live(record, socket)),
            None => Err(unasked(&dir, &mounted.source)),
        };
    }
    let place = Place::parse(text)?;
    let name = place.name();
    let same = |record: &Record| {
        record.store == name && endpoint.is_none_or(|given| record.endpoint.as_deref() == Some(given))
    };
    Ok(match control::find(same) {
        Some((record, socket)) => Target::Live(record, socket),
        None => Target::Store(place),
    })
}

/// The mount that `text` means.
pub(super) fn live(text: &str) -> Outcome<(Record, PathBuf)> {
    match find(text, None)? {
        Target::Live(record, socket) => Ok((record, socket)),
        Target::Store(place) => Err(Failure::new(format!("{} is not mounted on this host", place.name()))
            .advise("`stoa status` lists what is; `stoa mount STORE DIR` mounts it")),
    }
}

/// The mount that the file or directory `path` lies in. Touches it, not its target if it is a link.
pub(super) fn holding(path: &Path) -> Outcome<(Record, PathBuf)> {
    let shown = path.display();
    let found = path.symlink_metadata().map_err(|error| Failure::because(&shown, &error))?;
    let device = (libc::major(found.dev()), libc::minor(found.dev()));
    let Some(mounted) = mounts::stoa()?.into_iter().find(|mount| mount.device == device) else {
        return Err(Failure::new(format!("{shown} is not in a Stoa mount")).advise("`stoa status` lists them"));
    };
    control::find(|record| Path::new(&record.mountpoint) == mounted.mountpoint)
        .ok_or_else(|| unasked(&mounted.mountpoint, &mounted.source))
}

/// The failure of asking a mount of which there is no record.
pub(super) fn unasked(dir: &Path, source: &str) -> Failure {
    let dir = dir.display();
    Failure::new(format!("{source} is mounted on {dir}, but its process is gone or another user's")).advise(format!(
        "ask as the user who mounted it; if the process is gone, `stoa umount {dir}` clears what it left"
    ))
}
