//! `stoa umount`, and umount(8) on a Stoa mount.

use crate::args::Umount;
use crate::control::{self, Connection, Record, Request, Wait};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Meter};
use crate::{mounts, output::note};
use serde_json::json;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long each step may take if unmounting is forced.
const FORCED_STEP_MAX: Duration = Duration::from_secs(15);

/// Makes everything durable, unmounts, and waits until the volume is closed.
pub(crate) fn run(args: &Umount) -> Outcome<()> {
    let dir = mounts::resolve(&args.dir)?;
    let mounted = mounts::at(&dir)?;
    let live = control::find(|record| Path::new(&record.mountpoint) == dir);
    let closed = match (&mounted, &live) {
        (None, None) => {
            return Err(
                Failure::new(format!("{} is not a Stoa mount", dir.display())).advise("`stoa status` lists them")
            );
        }
        // Unmounted by someone else, and on its way out.
        (None, Some(live)) => wait(Ending::open(live, patience(args))?).map(|()| true)?,
        (Some(_), Some(live)) => end(args, &dir, live)?,
        (Some(_), None) => bury(args, &dir)?,
    };
    let store = live.map(|(record, _)| record.store).or(mounted.map(|mounted| mounted.source)).unwrap_or_default();
    if args.report.json {
        output::json(&json!({ "mountpoint": dir.to_string_lossy(), "store": store, "closed": closed }));
    } else if closed {
        output::line(format_args!("unmounted {}; everything is in {store}", dir.display()));
    }
    Ok(())
}

/// Ends a live mount. `false` if it was only detached, and ends when programs let go of it.
fn end(args: &Umount, dir: &Path, live: &(Record, PathBuf)) -> Outcome<bool> {
    match make_durable(live, patience(args)) {
        Ok(()) => {}
        Err(_) if !live.0.is_alive() => return bury(args, dir),
        Err(failure) if args.force => note(format_args!("stoa: {}; unmounting all the same", failure.what())),
        Err(failure) => {
            let what = format!("{} stays mounted: {}", dir.display(), failure.what());
            return Err(Failure::new(what)
                .advise("try again when the store is back; --force unmounts now, and its process goes on trying"));
        }
    }
    // Asked before, so that nothing can be missed between unmounting and asking.
    let ending = Ending::open(live, patience(args));
    detach(args, dir)?;
    if args.lazy && !args.force {
        let pid = live.0.pid;
        note(format_args!(
            "stoa: {} is detached; process {pid} ends when the last file in it is closed",
            dir.display()
        ));
        return Ok(false);
    }
    wait(ending?).map(|()| true).map_err(|failure| {
        let what = format!("{} is unmounted, but {}", dir.display(), failure.what());
        Failure::new(what).advise("what it still holds gets into the store while its process lives; see `stoa status`")
    })
}

/// Unmounts what nobody is known to serve.
fn bury(args: &Umount, dir: &Path) -> Outcome<bool> {
    detach(args, dir)?;
    note(format_args!("stoa: the process that served {} is gone or another user's: only unmounted", dir.display()));
    Ok(false)
}

/// How long the mount may take for a step: as long as it takes, but when forced.
fn patience(args: &Umount) -> Wait {
    if args.force { Wait::AtMost(FORCED_STEP_MAX) } else { Wait::WhileAlive }
}

fn make_durable((record, socket): &(Record, PathBuf), patience: Wait) -> Outcome<()> {
    let meter = Meter::new("making everything durable");
    let connection = Connection::open(record, socket, &Request::Sync, patience)?;
    connection.result(|stage, done, total| meter.show(stage, done, total)).map(|_| ())
}

/// A mount that is asked to tell when its volume is closed.
struct Ending(Connection);

impl Ending {
    fn open((record, socket): &(Record, PathBuf), patience: Wait) -> Outcome<Self> {
        Connection::open(record, socket, &Request::ShutdownWait, patience).map(Self)
    }
}

fn wait(ending: Ending) -> Outcome<()> {
    let meter = Meter::new("closing the volume");
    ending.0.result(|stage, done, total| meter.show(stage, done, total)).map(|_| ())
}

/// Has the kernel unmount `dir`.
fn detach(args: &Umount, dir: &Path) -> Outcome<()> {
    if args.force && control::uid() == 0 {
        return force(dir).map_err(|error| Failure::because(format_args!("can't unmount {}", dir.display()), &error));
    }
    // Without root's rights there is no forcing, and detaching comes nearest.
    stoa_fuse::unmount(dir, args.lazy || args.force).map_err(|error| {
        let failure = Failure::because("can't unmount", &error);
        match error {
            stoa_fuse::Error::Busy(_) => failure.advise(format!(
                "everything so far is durable; `fuser -vm {0}` shows who uses it, `stoa umount --lazy {0}` detaches it now",
                dir.display()
            )),
            _ => failure,
        }
    })
}

/// Cuts the kernel's connection to the mount, which fails the calls under way, and detaches it.
fn force(dir: &Path) -> io::Result<()> {
    let path = std::ffi::CString::new(dir.as_os_str().as_bytes())?;
    // SAFETY: `path` is a string with a NUL at its end that lives as long as the call.
    match unsafe { libc::umount2(path.as_ptr(), libc::MNT_FORCE | libc::MNT_DETACH | libc::UMOUNT_NOFOLLOW) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests;
