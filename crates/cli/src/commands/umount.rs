//! `stoa umount`, and umount(8) on a Stoa mount.

use super::shut_out::{self, ShutOut};
use crate::args::Umount;
use crate::control::{self, Connection, Record, Request, Wait};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Waiting};
use crate::{mounts, output::note};
use serde_json::json;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long each step may take if unmounting is forced.
const FORCED_STEP_MAX: Duration = Duration::from_secs(15);

/// How long a process is waited for that has closed its volume, and has nothing left to do but to end.
const LAST_MOMENTS: Duration = Duration::from_secs(3);

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
        (None, Some(live)) => wait(Ending::open(live, patience(args))?, &dir).map(|()| true)?,
        (Some(_), Some(live)) => end(args, &dir, live)?,
        (Some(_), None) if mounts::is_dead(&dir) => return Err(bury(args, &dir)),
        (Some(_), None) => return Err(leave(args, &dir)),
    };
    let wrote = live.as_ref().is_some_and(|(record, _)| !record.read_only);
    let store = live.map(|(record, _)| record.store).or(mounted.map(|mounted| mounted.source)).unwrap_or_default();
    if args.report.json {
        output::json(&json!({ "mountpoint": dir.to_string_lossy(), "store": store, "closed": closed }));
    } else if closed {
        output::line(done(&dir, &store, wrote));
    }
    Ok(())
}

/// What is said at the end. A mount that took no changes had nothing to bring into the store.
fn done(dir: &Path, store: &str, wrote: bool) -> String {
    let dir = dir.display();
    if wrote { format!("unmounted {dir}; everything is in {store}") } else { format!("unmounted {dir}") }
}

/// Ends a live mount. `false` if it was only detached, and ends when programs let go of it.
fn end(args: &Umount, dir: &Path, live: &(Record, PathBuf)) -> Outcome<bool> {
    // What took no changes has nothing to make durable, also if the store is away or was taken over.
    let durable = if live.0.read_only { Ok(()) } else { make_durable(args, live) };
    match durable {
        Ok(()) => {}
        Err(_) if !live.0.is_alive() => return Err(bury(args, dir)),
        Err(failure) => {
            let shut_out = shut_out::ask(&live.0, &live.1);
            if !args.force {
                return Err(stays(dir, &failure, shut_out));
            }
            let why = shut_out.map_or_else(|| failure.what().to_owned(), ShutOut::text);
            note(format_args!("stoa: {}: {why}; unmounting all the same", dir.display()));
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
    wait(ending?, dir).map(|()| true)
}

/// Why a mount was not unmounted that can't make everything durable.
fn stays(dir: &Path, failure: &Failure, shut_out: Option<ShutOut>) -> Failure {
    let dir = dir.display();
    match shut_out {
        Some(shut_out) => Failure::new(format!("{dir} stays mounted: {}", shut_out.text()))
            .advise(format!("`stoa umount --force {dir}` unmounts it, and gives up what it had not stored")),
        None => Failure::new(format!("{dir} stays mounted: {}", failure.what()))
            .advise("try again when the store is back; --force unmounts now, and its process goes on trying"),
    }
}

/// Unmounts what nobody serves any more. That is never a success: nobody knows whether its process had brought everything into the store.
fn bury(args: &Umount, dir: &Path) -> Failure {
    if let Err(failure) = detach(args, dir) {
        return failure;
    }
    let dir = dir.display();
    Failure::new(format!("{dir} is unmounted, but the process that served it was gone: what it had not stored is lost"))
        .advise("what was synced is in the store")
}

/// Unmounts, if it is forced, what somebody serves who is not found and can't be waited for.
fn leave(args: &Umount, dir: &Path) -> Failure {
    if args.force {
        let what = format!("{} is unmounted, but the process that serves it was not found", dir.display());
        let advice = "what it still holds gets into the store while it lives";
        return detach(args, dir).err().unwrap_or_else(|| Failure::new(what).advise(advice));
    }
    let (dir, umount) = (dir.display(), if control::uid() == 0 { "umount" } else { "fusermount3 -u" });
    Failure::new(format!("{dir} stays mounted: its process was not found, and can't be waited for")).advise(format!(
        "try as the user who mounted it, with the same STOA_RUNTIME_DIR or XDG_RUNTIME_DIR; `{umount} {dir}` does not wait, and the process \
         goes on until everything is in the store"
    ))
}

/// How long the mount may take for a step: as long as it takes, but when forced.
fn patience(args: &Umount) -> Wait {
    if args.force { Wait::AtMost(FORCED_STEP_MAX) } else { Wait::WhileAlive }
}

fn make_durable(args: &Umount, (record, socket): &(Record, PathBuf)) -> Outcome<()> {
    let hint = if args.force {
        format!("it is unmounted all the same after {} s", FORCED_STEP_MAX.as_secs())
    } else {
        format!("^C stops waiting: {} stays mounted then, and nothing is lost", record.mountpoint)
    };
    let mut waiting = Waiting::new("making everything durable", hint);
    let connection = Connection::open(record, socket, &Request::Sync, patience(args))?;
    connection.result(|stage, done, total| waiting.show(stage, done, total)).map(|_| ())
}

/// A mount that is asked to tell when its volume is closed.
struct Ending {
    connection: Connection,
    record: Record,
}

impl Ending {
    fn open((record, socket): &(Record, PathBuf), patience: Wait) -> Outcome<Self> {
        let connection = Connection::open(record, socket, &Request::ShutdownWait, patience)?;
        Ok(Self { connection, record: record.clone() })
    }
}

/// Waits for a process that has said all: it may still have files open, in a cache directory that is to be unmounted next.
fn wait_for_end(record: &Record) {
    let began = Instant::now();
    while record.is_alive() && began.elapsed() < LAST_MOMENTS {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the volume is closed.
fn wait(ending: Ending, dir: &Path) -> Outcome<()> {
    let hint = format!("^C stops waiting: process {} goes on until all is in the store", ending.record.pid);
    let mut waiting = Waiting::new("closing the volume", hint);
    match ending.connection.answer(|stage, done, total| waiting.show(stage, done, total)) {
        Ok(Ok(_)) => {
            wait_for_end(&ending.record);
            Ok(())
        }
        // Its last words.
        Ok(Err(why)) => Err(Failure::new(format!("{} is unmounted, but {why}", dir.display()))),
        Err(failure) => {
            let what = format!("{} is unmounted, but {}", dir.display(), failure.what());
            let advice = "what it still holds gets into the store while its process lives; see `stoa status`";
            Err(Failure::new(what).advise(failure.advice().unwrap_or(advice)))
        }
    }
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
                "what was closed or synced is durable; `fuser -vm {0}` shows who uses it, `stoa umount --lazy {0}` detaches it now",
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
