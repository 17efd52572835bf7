//! What user metadata say of a file, under the names of s3fs and rclone.
//!
//! s3fs writes `mode` (all of `st_mode`, decimal), `uid`, `gid` and `mtime` (seconds, decimal, with or without a fraction). rclone
//! writes `mtime`, as seconds with a fraction. What is not one of these, or says nothing that makes sense, is as if it were not there.

use std::collections::BTreeMap;
use stoa_vfs::{Kind, PERMISSIONS, SetAttr, SetTime, Timestamp};

/// Nanoseconds have nine digits.
const NANO_DIGITS: usize = 9;

/// What the metadata of an object say; `None` where they say nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// Symbolic links are known by this.
    pub(crate) kind: Option<Kind>,
    pub(crate) mode: Option<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) mtime: Option<Timestamp>,
}

impl Metadata {
    pub(crate) fn read(user: &BTreeMap<String, String>) -> Self {
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
}

/// Writes what `set` says of a regular file, as s3fs does.
pub(crate) fn write(set: &SetAttr, user: &mut BTreeMap<String, String>) {
    write_of(Kind::Regular, set, user);
}

/// Writes what `set` says of a file of this kind.
pub(crate) fn write_of(kind: Kind, set: &SetAttr, user: &mut BTreeMap<String, String>) {
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            user.insert(name.to_owned(), value);
        }
    };
    put("mode", set.mode.map(|mode| (kind.mode_bits() | (mode & PERMISSIONS)).to_string()));
    put("uid", set.uid.map(|uid| uid.to_string()));
    put("gid", set.gid.map(|gid| gid.to_string()));
    match set.mtime {
        Some(SetTime::At(Timestamp { secs, nanos: 0 })) => put("mtime", Some(secs.to_string())),
        Some(SetTime::At(Timestamp { secs, nanos })) if secs >= 0 => put("mtime", Some(format!("{secs}.{nanos:09}"))),
        // To the second, so long ago.
        Some(SetTime::At(Timestamp { secs, .. })) => put("mtime", Some(secs.to_string())),
        // The time of writing, which is what an object shows that says none.
        Some(SetTime::Now) => drop(user.remove("mtime")),
        None => {}
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
