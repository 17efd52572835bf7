//! The directory of control sockets and records: `PID.sock` and `PID.json`.

use super::Record;
use crate::failure::{Failure, Outcome};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The longest record that is read, in bytes.
const RECORD_BYTES_MAX: u64 = 64 << 10;
/// Names the directory itself, in place of the usual ones.
const DIR_VARIABLE: &str = "STOA_RUNTIME_DIR";

/// A directory of mounts, all of one user.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    dir: PathBuf,
}

impl Registry {
    /// Where this user's mounts are noted: `$STOA_RUNTIME_DIR`, else `/run/stoa` (root), `$XDG_RUNTIME_DIR/stoa`, or `/tmp/stoa-UID`.
    pub(crate) fn own() -> Self {
        let uid = uid();
        let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let dir = given(DIR_VARIABLE).unwrap_or_else(|| match given("XDG_RUNTIME_DIR") {
            _ if uid == 0 => "/run/stoa".into(),
            Some(dir) if dir.metadata().is_ok_and(|found| found.uid() == uid) => dir.join("stoa"),
            _ => format!("/tmp/stoa-{uid}").into(),
        });
        Self { dir }
    }

    /// The one in `dir`.
    #[cfg(test)]
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// All that this user may look into: root sees everybody's. Not all of a user's are in one, as logins have `XDG_RUNTIME_DIR`, and cron
    /// and `su` have not.
    pub(crate) fn readable() -> Vec<Self> {
        let own = Self::own();
        let others = match uid() {
            _ if std::env::var_os(DIR_VARIABLE).is_some() => Vec::new(),
            0 => everybodys(),
            uid => usual(uid),
        };
        let others = others.into_iter().filter(|dir| *dir != own.dir).map(|dir| Self { dir });
        let others: Vec<Self> = others.filter(|registry| registry.owner().is_some()).collect();
        std::iter::once(own).chain(others).collect()
    }

    /// Writes down a mount of this process, in place of any record left by a dead one with its pid.
    pub(crate) fn claim(&self, record: &Record) -> Outcome<Claim> {
        self.prepare()?;
        let claim = Claim { record: self.path(record.pid, "json"), socket: self.path(record.pid, "sock") };
        let fail = |error: &io::Error| Failure::because(claim.record.display(), error);
        remove(&claim.socket).map_err(|error| fail(&error))?;
        let text = serde_json::to_string(record).map_err(|error| Failure::of(&error))?;
        // Readers must never find half a record, so it gets its name when it is whole.
        let draft = self.path(record.pid, "new");
        remove(&draft).map_err(|error| fail(&error))?;
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            fs::rename(&draft, &claim.record)
        });
        written.map_err(|error| fail(&error))?;
        Ok(claim)
    }

    /// The mounts that live, each with its socket. Records of dead ones are removed if they are this user's.
    pub(crate) fn list(&self) -> Vec<(Record, PathBuf)> {
        let Some(owner) = self.owner() else {
            return Vec::new();
        };
        let mut alive = Vec::new();
        for path in entries(&self.dir).filter(|path| path.extension().is_some_and(|kind| kind == "json")) {
            match read(&path) {
                // Nobody else can have written it.
                Some(record) if record.uid != owner => {}
                Some(record) if record.is_alive() => alive.push((record, path.with_extension("sock"))),
                // A record that can't be read was left by a power cut or another version; its name still tells the pid.
                _ if owner == uid() && !named_process_lives(&path) => {
                    // Somebody else may clean up at the same time, and what stays does no harm.
                    let _ = remove(&path.with_extension("sock"));
                    let _ = remove(&path);
                }
                _ => {}
            }
        }
        alive.sort_by(|(a, _), (b, _)| (&a.started, a.pid).cmp(&(&b.started, b.pid)));
        alive
    }

    fn path(&self, pid: u32, kind: &str) -> PathBuf {
        self.dir.join(format!("{pid}.{kind}"))
    }

    /// Makes the directory if need be, and sees to it that nobody else may enter.
    pub(crate) fn prepare(&self) -> Outcome<()> {
        let fail =
            |error: &io::Error| Failure::because(format_args!("control directory {}", self.dir.display()), error);
        match DirBuilder::new().mode(0o700).create(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fail(&error)),
            _ => {}
        }
        if self.owner() == Some(uid()) {
            return Ok(());
        }
        // /tmp is everybody's: whoever made this directory first could read, or answer, what is meant for us.
        Err(Failure::new(format!("control directory {} is not this user's alone", self.dir.display()))
            .advise(format!("remove it, make it mode 0700, or set {DIR_VARIABLE} to a directory of your own")))
    }

    /// Whose directory it is, if it is a directory that nobody else may enter.
    fn owner(&self) -> Option<u32> {
        let found = fs::symlink_metadata(&self.dir).ok()?;
        (found.is_dir() && found.mode() & 0o077 == 0).then(|| found.uid())
    }
}

/// A mount's record and socket; both go when this is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    record: PathBuf,
    socket: PathBuf,
}

impl Claim {
    /// Where its control socket is to be.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // What can't be removed is recognised as stale by its pid.
        let _ = remove(&self.record);
        let _ = remove(&self.socket);
    }
}

/// The user this process acts for.
pub(crate) fn uid() -> u32 {
    // SAFETY: geteuid has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// The group this process acts for.
pub(crate) fn gid() -> u32 {
    // SAFETY: getegid has no preconditions and cannot fail.
    unsafe { libc::getegid() }
}

fn read(path: &Path) -> Option<Record> {
    // Root reads directories of others: no links, and no waiting at a FIFO.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let mut text = String::new();
    file.take(RECORD_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn named_process_lives(path: &Path) -> bool {
    let pid = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
    let readable = read(path).is_some();
    // A readable record of a process that has been replaced by another with its pid is stale as well.
    !readable && pid.is_some_and(|pid| stoa_process::started(pid).is_some())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Where the mounts of a user other than root are noted, with `XDG_RUNTIME_DIR` as logins have it and without.
fn usual(uid: u32) -> Vec<PathBuf> {
    vec![format!("/run/user/{uid}/stoa").into(), format!("/tmp/stoa-{uid}").into()]
}

/// The same of all users who have such a place.
fn everybodys() -> Vec<PathBuf> {
    let users = subdirectories("/run/user").map(|dir| dir.join("stoa"));
    let temporary = subdirectories("/tmp")
        .filter(|dir| dir.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("stoa-")));
    users.chain(temporary).collect()
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

fn subdirectories(dir: &str) -> impl Iterator<Item = PathBuf> {
    entries(Path::new(dir)).filter(|path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()))
}

#[cfg(test)]
mod tests;
