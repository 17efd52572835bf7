//! What a file and an object carry beside their bytes, and what becomes of it on the other side.
//!
//! | of an object | of a file |
//! |---|---|
//! | user metadata `mode`, `uid`, `gid`, `mtime`, as s3fs writes them | mode, owner, group, time |
//! | all other user metadata `NAME` | extended attribute `user.NAME` |
//! | content type | `user.mime_type` |
//! | content encoding, disposition, language, cache control, expires | `user.stoa.content-encoding`, ... |

use crate::Result;
use crate::tree::{Dir, by_proc};
use rustix::fs::{AtFlags, Gid, Mode, Stat, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::time::SystemTime;
use stoa_bucket::tree::{METADATA_BYTES_MAX, Metadata, RESERVED};
use stoa_objects::s3::Headers;
use stoa_vfs::{Kind, PERMISSIONS, Timestamp};

const USER: &str = "user.";
/// The name that desktops and web servers use.
const CONTENT_TYPE: &str = "user.mime_type";
/// Attributes of our own.
pub(crate) const OWN: &str = "user.stoa.";
/// A list of names, and one value, are no longer than this, in bytes (`XATTR_LIST_MAX`, `XATTR_SIZE_MAX`).
const XATTR_BYTES_MAX: usize = 64 << 10;

/// What is carried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) attributes: Metadata,
    /// Extended attributes.
    pub(crate) xattrs: BTreeMap<String, Vec<u8>>,
    /// How much of it the other side has no place for.
    pub(crate) left_out: u64,
}

impl Carried {
    /// What an object carries that was written at `written`.
    pub(crate) fn by_object(headers: &Headers, written: Option<SystemTime>) -> Self {
        let mut attributes = Metadata::read(&headers.metadata);
        attributes.mtime = attributes.mtime.or(written.map(Timestamp::from));
        let mut carried = Self { attributes, ..Self::default() };
        for (name, value) in headers.metadata.iter().filter(|(name, _)| !RESERVED.contains(&name.as_str())) {
            carried.xattrs.insert(format!("{USER}{name}"), value.clone().into_bytes());
        }
        let mut headers = headers.clone();
        for (name, value) in fields(&mut headers) {
            if let Some(value) = value.take().filter(|value| !is_default_type(name, value)) {
                carried.xattrs.insert(name.to_owned(), value.into_bytes());
            }
        }
        carried
    }

    /// What a file carries, whose `stat` was just taken.
    pub(crate) fn by_file(file: &File, stat: &Stat) -> Result<Self> {
        let mut carried = Self::by_stat(stat);
        for name in names(file)? {
            // What the kernel labels files with means nothing elsewhere.
            if name == "security.selinux" || (name.starts_with(OWN) && !is_field(&name)) {
                continue;
            }
            match value(file, &name)?.filter(|_| name.starts_with(USER)) {
                Some(value) => drop(carried.xattrs.insert(name, value)),
                None => carried.left_out += 1,
            }
        }
        Ok(carried)
    }

    /// Whether there is nothing that an object with these headers carries and this does not: replacing it takes nothing from anybody.
    pub(crate) fn has_all_of(&self, object: &Headers) -> bool {
        Self::by_object(object, None).xattrs.keys().all(|name| self.xattrs.contains_key(name))
    }

    /// What a link carries.
    pub(crate) fn by_stat(stat: &Stat) -> Self {
        let attributes = Metadata {
            kind: Kind::from_mode(stat.st_mode),
            mode: Some(stat.st_mode & PERMISSIONS),
            uid: Some(stat.st_uid),
            gid: Some(stat.st_gid),
            mtime: Some(mtime(stat)),
        };
        Self { attributes, ..Self::default() }
    }

    /// As the headers of an object. What they can't say is counted as left out.
    pub(crate) fn headers(&mut self) -> Headers {
        let mut headers = Headers::default();
        self.attributes.write(&mut headers.metadata);
        let mut bytes: usize = headers.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
        let mut left_out = 0;
        for (name, value) in &self.xattrs {
            let Some(text) = String::from_utf8(value.clone()).ok().filter(|text| is_sendable(text)) else {
                left_out += 1;
                continue;
            };
            if let Some((_, field)) = fields(&mut headers).into_iter().find(|(field, _)| field == name) {
                *field = Some(text);
                continue;
            }
            let short = name.strip_prefix(USER).filter(|short| is_metadata_name(short));
            let room = METADATA_BYTES_MAX - bytes;
            match short.filter(|short| short.len() + text.len() <= room) {
                Some(short) => {
                    bytes += short.len() + text.len();
                    headers.metadata.insert(short.to_owned(), text);
                }
                None => left_out += 1,
            }
        }
        self.left_out += left_out;
        headers
    }

    /// Gives them to a file or a directory. Returns how many it would not take.
    pub(crate) fn give(&self, file: impl AsFd) -> Result<u64> {
        let file = file.as_fd();
        let mut left_out = self.left_out;
        for (name, value) in &self.xattrs {
            left_out += refused(rustix::fs::fsetxattr(file, name.as_str(), value, XattrFlags::empty()))?;
        }
        let Metadata { mode, uid, gid, mtime, .. } = self.attributes;
        let (mut has_owner, mut has_group) = (uid.is_some(), gid.is_some());
        if has_owner || has_group {
            let not_given = refused(rustix::fs::fchown(file, owner(uid), group(gid)))?;
            (has_owner, has_group) = (has_owner && not_given == 0, has_group && not_given == 0);
            left_out += not_given;
        }
        // After the owner: that takes set-uid away.
        if let Some(mode) = mode {
            let given = mode & !privileges_of_others(has_owner, has_group);
            left_out += u64::from(given != mode) + refused(rustix::fs::fchmod(file, Mode::from_raw_mode(given)))?;
        }
        if let Some(mtime) = mtime {
            left_out += refused(rustix::fs::futimens(file, &times(mtime)))?;
        }
        Ok(left_out)
    }

    /// Gives them to a link, which has an owner and a time.
    pub(crate) fn give_link(&self, dir: &Dir, name: &[u8]) -> Result<u64> {
        let Metadata { uid, gid, mtime, .. } = self.attributes;
        let mut left_out = self.left_out + self.xattrs.len() as u64;
        if uid.is_some() || gid.is_some() {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            left_out += refused(rustix::fs::chownat(dir, name, owner(uid), group(gid), flags))?;
        }
        if let Some(mtime) = mtime {
            left_out += refused(rustix::fs::utimensat(dir, name, &times(mtime), AtFlags::SYMLINK_NOFOLLOW))?;
        }
        Ok(left_out)
    }
}

/// The time of a file.
pub(crate) fn mtime(stat: &Stat) -> Timestamp {
    Timestamp { secs: stat.st_mtime, nanos: u32::try_from(stat.st_mtime_nsec).unwrap_or(0) }
}

/// An extended attribute of what is at a name, which is no link; `None` if it has none, or can have none.
pub(crate) fn value_at(dir: &Dir, name: &stoa_vfs::Name, attribute: &str) -> Result<Option<Vec<u8>>> {
    let mut value = vec![0; XATTR_BYTES_MAX];
    found(rustix::fs::lgetxattr(by_proc(dir, name), attribute, &mut value), value)
}

/// An extended attribute of a file; `None` if it has none, or can have none.
pub(crate) fn value(file: &File, name: &str) -> Result<Option<Vec<u8>>> {
    let mut value = vec![0; XATTR_BYTES_MAX];
    found(rustix::fs::fgetxattr(file, name, &mut value), value)
}

fn found(len: rustix::io::Result<usize>, mut value: Vec<u8>) -> Result<Option<Vec<u8>>> {
    match len {
        Ok(len) => {
            value.truncate(len);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::ACCESS | Errno::PERM) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn names(file: &File) -> Result<Vec<String>> {
    let mut list = vec![0; XATTR_BYTES_MAX];
    let list = found(rustix::fs::flistxattr(file, &mut list), list)?.unwrap_or_default();
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// 1 if the file would not take it, which is no reason not to copy it.
fn refused(given: rustix::io::Result<()>) -> Result<u64> {
    match given {
        Ok(()) => Ok(0),
        Err(
            Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP | Errno::RANGE | Errno::TOOBIG | Errno::INVAL | Errno::NOSPC,
        ) => Ok(1),
        Err(errno) => Err(errno.into()),
    }
}

fn owner(uid: Option<u32>) -> Option<Uid> {
    uid.filter(|uid| *uid != u32::MAX).map(Uid::from_raw)
}

fn group(gid: Option<u32>) -> Option<Gid> {
    gid.filter(|gid| *gid != u32::MAX).map(Gid::from_raw)
}

/// The set-uid and set-gid bits that a file must not have: with another owner or group than they are meant for, they give away the
/// rights of whoever copies.
fn privileges_of_others(has_owner: bool, has_group: bool) -> u32 {
    let mut bits = Mode::empty();
    bits.set(Mode::SUID, !has_owner);
    bits.set(Mode::SGID, !has_group);
    bits.as_raw_mode()
}

fn times(Timestamp { secs, nanos }: Timestamp) -> Timestamps {
    let time = Timespec { tv_sec: secs, tv_nsec: i64::from(nanos) };
    Timestamps { last_access: time, last_modification: time }
}

/// The headers that are extended attributes of a name of their own.
fn fields(headers: &mut Headers) -> [(&'static str, &mut Option<String>); 6] {
    [
        (CONTENT_TYPE, &mut headers.content_type),
        ("user.stoa.content-encoding", &mut headers.content_encoding),
        ("user.stoa.content-disposition", &mut headers.content_disposition),
        ("user.stoa.content-language", &mut headers.content_language),
        ("user.stoa.cache-control", &mut headers.cache_control),
        ("user.stoa.expires", &mut headers.expires),
    ]
}

fn is_field(name: &str) -> bool {
    fields(&mut Headers::default()).iter().any(|(field, _)| *field == name)
}

/// What servers say of an object of which nobody said a type.
fn is_default_type(name: &str, value: &str) -> bool {
    name == CONTENT_TYPE && matches!(value, "application/octet-stream" | "binary/octet-stream")
}

/// Names that headers have, and that mean nothing else.
fn is_metadata_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    !name.is_empty() && name.bytes().all(legal) && !RESERVED.contains(&name) && name != "stoaputid"
}

/// Whether a header can carry it as it is.
fn is_sendable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim() == text
}

#[cfg(test)]
mod tests;
