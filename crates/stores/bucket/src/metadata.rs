//! What user metadata say of a file, under the names of s3fs and rclone.
//!
//! s3fs writes `mode` (all of `st_mode`, decimal), `uid`, `gid` and `mtime` (seconds, decimal, with or without a fraction). rclone
//! writes `mtime`, as seconds with a fraction. What is not one of these, or says nothing that makes sense, is as if it were not there.

use std::collections::BTreeMap;
use stoa_objects::s3::limits::METADATA_BYTES_MAX;
use stoa_vfs::{Error, Kind, PERMISSIONS, Result, SetAttr, SetTime, Timestamp};

/// Nanoseconds have nine digits.
const NANO_DIGITS: usize = 9;

/// The names of the user metadata that say what [`Metadata`] hold, and of those that s3fs writes beside them.
pub const RESERVED: [&str; 6] = ["mode", "uid", "gid", "mtime", "atime", "ctime"];

/// The name of the tag by which a write knows its own object again. It is never shown.
pub(crate) const TAG: &str = "stoaputid";

/// The longest user metadata that are set here, in bytes of names and values: what S3 takes, less the tag of a rename of a directory, which
/// has 64 digits.
pub const BYTES_MAX: usize = METADATA_BYTES_MAX - TAG.len() - 64;

/// The longest with which an object can be written: the tag of a write has 32 digits.
const WRITTEN_BYTES_MAX: usize = METADATA_BYTES_MAX - TAG.len() - 32;

/// What user metadata say of a file; `None` where they say nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// What it is. Symbolic links are known by this.
    pub kind: Option<Kind>,
    /// Permission bits.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Time of the last change of its content.
    pub mtime: Option<Timestamp>,
}

impl Metadata {
    /// What `user` says, as s3fs and rclone write it.
    #[must_use]
    pub fn read(user: &BTreeMap<String, String>) -> Self {
        let number = |name: &str| user.get(name).and_then(|text| text.trim().parse::<u32>().ok());
        let mode = number("mode");
        Self {
            kind: mode.and_then(Kind::from_mode),
            mode: mode.map(|mode| mode & PERMISSIONS),
            uid: number("uid"),
            gid: number("gid"),
            mtime: user.get("mtime").and_then(|text| seconds(text.trim())),
        }
    }

    /// Writes them into `user`, as s3fs does. What they do not say stays as it is there.
    pub fn write(&self, user: &mut BTreeMap<String, String>) {
        let mut put = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                user.insert(name.to_owned(), value);
            }
        };
        let kind = self.kind.unwrap_or(Kind::Regular);
        put("mode", self.mode.map(|mode| (kind.mode_bits() | (mode & PERMISSIONS)).to_string()));
        put("uid", self.uid.map(|uid| uid.to_string()));
        put("gid", self.gid.map(|gid| gid.to_string()));
        put("mtime", self.mtime.map(time));
    }
}

/// Writes what `set` says of a regular file, as s3fs does.
pub(crate) fn write(set: &SetAttr, user: &mut BTreeMap<String, String>) {
    write_of(Kind::Regular, set, user);
}

/// As [`write()`], if there is room for it: otherwise the file could not be stored with all that it carries.
///
/// # Errors
/// [`Error::NoSpace`], and nothing is changed.
pub(crate) fn carry(set: &SetAttr, user: &mut BTreeMap<String, String>) -> Result<()> {
    let mut changed = user.clone();
    write(set, &mut changed);
    // What somebody else has set may be more.
    if bytes(&changed) > bytes(user).max(BYTES_MAX) {
        return Err(Error::NoSpace);
    }
    *user = changed;
    Ok(())
}

/// Fails if what an object carries leaves no room for writing it.
///
/// # Errors
/// [`Error::Unsupported`].
pub(crate) fn check_writable(user: &BTreeMap<String, String>) -> Result<()> {
    match bytes(user) > WRITTEN_BYTES_MAX {
        true => {
            Err(Error::Unsupported("writing to an object with so much user metadata that there is no room for a tag"))
        }
        false => Ok(()),
    }
}

fn bytes(user: &BTreeMap<String, String>) -> usize {
    user.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// Writes what `set` says of a file of this kind.
pub(crate) fn write_of(kind: Kind, set: &SetAttr, user: &mut BTreeMap<String, String>) {
    let mtime = match set.mtime {
        Some(SetTime::At(time)) => Some(time),
        // The time of writing, which is what an object shows that says none.
        Some(SetTime::Now) => {
            user.remove("mtime");
            None
        }
        None => None,
    };
    Metadata { kind: Some(kind), mode: set.mode, uid: set.uid, gid: set.gid, mtime }.write(user);
}

fn time(Timestamp { secs, nanos }: Timestamp) -> String {
    match (secs, nanos) {
        (secs, 0) => secs.to_string(),
        (0.., nanos) => format!("{secs}.{nanos:09}"),
        // Before 1970 the fraction is counted backward in writing, and forward in a timestamp.
        (-1, nanos) => format!("-0.{:09}", 1_000_000_000 - nanos),
        (secs, nanos) => format!("{}.{:09}", secs + 1, 1_000_000_000 - nanos),
    }
}

/// `1609459200.25` as a time. Exact to the nanosecond, which a float is not.
fn seconds(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(NANO_DIGITS).collect();
    let (secs, nanos): (i64, u32) = (whole.parse().ok()?, digits.parse().ok()?);
    if whole.starts_with('-') && nanos > 0 {
        // A time before 1970 counts its nanoseconds forward from the second before.
        return Some(Timestamp { secs: secs.checked_sub(1)?, nanos: 1_000_000_000 - nanos });
    }
    Some(Timestamp { secs, nanos })
}

#[cfg(test)]
mod tests;
