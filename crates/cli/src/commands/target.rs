//! Which live mount a STORE or DIR on the command line means.

use super::shut_out::{self, ShutOut};
use crate::control::{self, Connection, Record, Request, Wait};
use crate::failure::{Failure, Outcome};
use crate::mounts;
use crate::output::Meter;
use crate::store::Place;
use serde_json::Value;
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
fn find(text: &str, endpoint: Option<&str>) -> Outcome<Target> {
    search(text, endpoint, |_, _| Ok(()))
}

/// The same for work on the whole volume. A mount that another one has shut out can't do any: it is passed over, as if it were not
/// there, and refused if it is named by its directory.
pub(super) fn find_fit(text: &str, endpoint: Option<&str>) -> Outcome<Target> {
    search(text, endpoint, |record, socket| match shut_out::ask(record, socket) {
        Some(shut_out) => Err(unfit(record, shut_out)),
        None => Ok(()),
    })
}

fn search(text: &str, endpoint: Option<&str>, fit: impl Fn(&Record, &Path) -> Outcome<()>) -> Outcome<Target> {
    // The directory of a mount is recognised without touching it, because the mount may hang.
    if !text.contains("://")
        && let Ok(dir) = mounts::resolve(Path::new(text))
        && let Some(mounted) = mounts::at(&dir)?
    {
        return match control::find(|record| Path::new(&record.mountpoint) == dir) {
            Some((record, socket)) => fit(&record, &socket).map(|()| Target::Live(record, socket)),
            None => Err(unasked(&dir, &mounted.source)),
        };
    }
    let place = Place::parse(text)?;
    let name = place.name();
    // Which store another user's mount is of, only that user says.
    let same = |record: &Record| {
        record.is_own()
            && record.store == name
            && endpoint.is_none_or(|given| record.endpoint.as_deref() == Some(given))
    };
    let live = control::all().into_iter().rev().find(|(record, socket)| same(record) && fit(record, socket).is_ok());
    Ok(match live {
        Some((record, socket)) => Target::Live(record, socket),
        None => Target::Store(place),
    })
}

/// Has a mount do `request`, and shows on `meter` how far it is. `None` if only that told it that another one has shut it out: then
/// [`find_fit`] finds somebody else.
pub(super) fn ask(record: &Record, socket: &Path, request: &Request, meter: &Meter) -> Outcome<Option<Value>> {
    let asked = Connection::open(record, socket, request, Wait::WhileAlive);
    match asked.and_then(|asked| asked.result(|stage, done, total| meter.show(stage, done, total))) {
        Err(_) if shut_out::ask(record, socket).is_some() => Ok(None),
        asked => asked.map(Some),
    }
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

/// The failure of asking a mount that was shut out.
fn unfit(record: &Record, shut_out: ShutOut) -> Failure {
    let (dir, store) = (&record.mountpoint, &record.store);
    Failure::new(format!("{dir}: {}", shut_out.text()))
        .advise(format!("give {store} instead of the directory; `stoa umount --force {dir}` unmounts this"))
}

/// The failure of asking a mount of which there is no record.
pub(super) fn unasked(dir: &Path, source: &str) -> Failure {
    let dir = dir.display();
    Failure::new(format!("{source} is mounted on {dir}, but its process is gone or another user's")).advise(format!(
        "ask as the user who mounted it, with the same STOA_RUNTIME_DIR or XDG_RUNTIME_DIR; if the process is gone, `stoa umount {dir}` clears \
         what it left"
    ))
}
