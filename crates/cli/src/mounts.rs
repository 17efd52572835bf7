//! What the kernel has mounted (/proc/self/mountinfo, proc_pid_mountinfo(5)).

use crate::failure::{Failure, Outcome};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// The type of file system that our mounts have in the kernel's table.
pub(crate) const FS_TYPE: &str = "fuse.stoa";

/// How long whoever serves a mount may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// One line of the kernel's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mounted {
    /// Major and minor number of its device: what `st_dev` of its files says.
    pub(crate) device: (u32, u32),
    /// Where it is mounted.
    pub(crate) mountpoint: PathBuf,
    /// The type of file system.
    pub(crate) fs_type: String,
    /// What is mounted there, as the file system chose to name it.
    pub(crate) source: String,
    /// Who mounted it (`user_id`, mount.fuse(8)).
    pub(crate) owner: Option<u32>,
}

/// All Stoa mounts, in the order they were made.
pub(crate) fn stoa() -> Outcome<Vec<Mounted>> {
    const TABLE: &str = "/proc/self/mountinfo";
    let table = fs::read(TABLE).map_err(|error| Failure::because(TABLE, &error))?;
    Ok(parse(&table).into_iter().filter(|mount| mount.fs_type == FS_TYPE).collect())
}

/// The Stoa mount on exactly `dir`, the topmost if several are stacked.
pub(crate) fn at(dir: &Path) -> Outcome<Option<Mounted>> {
    Ok(stoa()?.into_iter().rev().find(|mount| mount.mountpoint == dir))
}

/// `path` made absolute without touching a mount that stands on it: one that hangs would hang us too.
///
/// The directory above is resolved, links and all. The last part is looked up only if no Stoa mount is there.
pub(crate) fn resolve(path: &Path) -> Outcome<PathBuf> {
    let fail = |error: std::io::Error| Failure::because(path.display(), &error);
    let absolute = std::path::absolute(path).map_err(fail)?;
    if let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) {
        let candidate = fs::canonicalize(parent).map_err(fail)?.join(name);
        if at(&candidate)?.is_some() {
            return Ok(candidate);
        }
    }
    fs::canonicalize(&absolute).map_err(fail)
}

/// Whether nobody serves the mount on `dir` any more, so that every call in it fails. One that does not answer is served: its process hangs.
pub(crate) fn is_dead(dir: &Path) -> bool {
    let (tell, told) = mpsc::channel();
    let dir = dir.to_owned();
    // A thread of its own, as whoever looks hangs too if the process does. Not stat(2), which the kernel may answer from its cache.
    std::thread::spawn(move || tell.send(rustix::fs::statfs(&dir).map(drop)));
    matches!(told.recv_timeout(ANSWER_MAX), Ok(Err(Errno::NOTCONN | Errno::CONNABORTED)))
}

fn parse(table: &[u8]) -> Vec<Mounted> {
    table.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

/// `ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS [TAG...] - TYPE SOURCE SUPEROPTIONS`
fn parse_line(line: &[u8]) -> Option<Mounted> {
    let mut fields = line.split(|&byte| byte == b' ');
    let device = text(fields.nth(2)?);
    let (major, minor) = device.split_once(':')?;
    let mountpoint = unescape(fields.nth(1)?);
    let mut tail = fields.skip_while(|&field| field != b"-").skip(1);
    Some(Mounted {
        device: (major.parse().ok()?, minor.parse().ok()?),
        mountpoint: PathBuf::from(OsString::from_vec(mountpoint)),
        fs_type: text(tail.next()?),
        source: String::from_utf8_lossy(&unescape(tail.next()?)).into_owned(),
        owner: tail.next().and_then(owner),
    })
}

fn owner(options: &[u8]) -> Option<u32> {
    let value = options.split(|&byte| byte == b',').find_map(|option| option.strip_prefix(b"user_id="))?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

/// Undoes the kernel's `\ooo` for space, tab, newline and backslash.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        match after.split_at_checked(3).filter(|_| first == b'\\').and_then(|(code, after)| Some((octal(code)?, after)))
        {
            Some((byte, after)) => {
                plain.push(byte);
                rest = after;
            }
            None => {
                plain.push(first);
                rest = after;
            }
        }
    }
    plain
}

fn octal(code: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok()
}

/// Whether `path` is `dir` or lies in it.
pub(crate) fn contains(dir: &Path, path: &Path) -> bool {
    // `starts_with` compares whole components, so `/a` does not contain `/ab`.
    !dir.as_os_str().as_bytes().is_empty() && path.starts_with(dir)
}

#[cfg(test)]
mod tests;
