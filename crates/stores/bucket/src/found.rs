//! What a name stands for.

use crate::directory::Directory;
use crate::metadata::Metadata;
use crate::{Attributes, Options};
use std::sync::Arc;
use std::time::SystemTime;
use stoa_objects::s3::{Listed, ObjectInfo};
use stoa_vfs::{Attr, Ino, Kind, SetAttr, SetTime, Timestamp};

/// One content of an object. When the object is replaced, that is another file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Version {
    /// Its key.
    pub(crate) key: Arc<str>,
    /// The tag of the content; some servers have none for some objects.
    pub(crate) etag: Option<Arc<str>>,
    /// Its length in bytes.
    pub(crate) size: u64,
    /// Tells files apart that were made here and are not in the store yet; 0 for what is.
    pub(crate) draft: u64,
}

/// What an inode is of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Directory(Directory),
    Object(Version),
}

impl Target {
    /// The key of the object, or of the directory's marker, which the keys below it begin with.
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Directory(directory) => directory.prefix(),
            Self::Object(version) => &version.key,
        }
    }
}

/// How a file looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Looks {
    pub(crate) kind: Kind,
    mode: u32,
    uid: u32,
    gid: u32,
    size: u64,
    mtime: Timestamp,
}

/// What a name stands for, and how it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) target: Target,
    pub(crate) looks: Looks,
}

impl Looks {
    /// The same with another length, since now.
    pub(crate) fn resized(&self, size: u64) -> Self {
        Self { size, mtime: whole_seconds(SystemTime::now()), ..self.clone() }
    }

    /// The same with the mode, owner and time that `set` says.
    pub(crate) fn changed(&self, set: &SetAttr) -> Self {
        let mtime = match set.mtime {
            Some(SetTime::At(time)) => time,
            Some(SetTime::Now) => whole_seconds(SystemTime::now()),
            None => self.mtime,
        };
        let new = |new: Option<u32>, old| new.unwrap_or(old);
        let (mode, uid, gid) = (new(set.mode, self.mode), new(set.uid, self.uid), new(set.gid, self.gid));
        Self { mode, uid, gid, mtime, ..self.clone() }
    }

    /// As `stat(2)` shows it.
    pub(crate) fn attr(&self, ino: Ino) -> Attr {
        Attr {
            ino,
            kind: self.kind,
            mode: self.mode,
            // Of a directory, 1 says that nobody counted those in it.
            nlink: 1,
            uid: self.uid,
            gid: self.gid,
            rdev: 0,
            size: self.size,
            blocks: self.size.div_ceil(512),
            atime: self.mtime,
            mtime: self.mtime,
            ctime: self.mtime,
            btime: self.mtime,
        }
    }
}

/// Makes [`Found`] of what the store says, as the options want it.
#[derive(Debug)]
pub(crate) struct Finder {
    attributes: Attributes,
    uid: u32,
    gid: u32,
    file_mode: u32,
    dir_mode: u32,
    /// The time of what has none.
    opened: Timestamp,
}

impl Finder {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            attributes: options.attributes,
            uid: options.uid,
            gid: options.gid,
            file_mode: options.file_mode & stoa_vfs::PERMISSIONS,
            dir_mode: options.dir_mode & stoa_vfs::PERMISSIONS,
            opened: whole_seconds(SystemTime::now()),
        }
    }

    /// Whether each object is asked for what it says of itself.
    pub(crate) fn asks_objects(&self) -> bool {
        self.attributes == Attributes::Objects
    }

    /// A directory; `marker` is its own object, if it has one that was asked for.
    pub(crate) fn directory(&self, directory: Directory, marker: Option<&ObjectInfo>) -> Found {
        let marker = marker.filter(|_| self.asks_objects());
        let says = marker.map(|marker| Metadata::read(&marker.headers.metadata)).unwrap_or_default();
        let written = marker.and_then(|marker| marker.modified).map(whole_seconds);
        let looks = Looks {
            kind: Kind::Directory,
            mode: says.mode.unwrap_or(self.dir_mode),
            uid: says.uid.unwrap_or(self.uid),
            gid: says.gid.unwrap_or(self.gid),
            size: 0,
            mtime: says.mtime.or(written).unwrap_or(self.opened),
        };
        Found { target: Target::Directory(directory), looks }
    }

    /// An object in a listing.
    pub(crate) fn listed(&self, listed: Listed) -> Found {
        let version =
            Version { key: listed.key.into(), etag: listed.etag.map(Into::into), size: listed.size, draft: 0 };
        self.object(version, listed.modified, &Metadata::default())
    }

    /// An object that was asked for.
    pub(crate) fn asked(&self, key: &str, info: &ObjectInfo) -> Found {
        let version =
            Version { key: key.into(), etag: info.etag.as_deref().map(Into::into), size: info.size, draft: 0 };
        // One answer for one file, whichever request it came from: what a listing can't say is not said here either.
        let says = if self.asks_objects() { Metadata::read(&info.headers.metadata) } else { Metadata::default() };
        self.object(version, info.modified, &says)
    }

    /// A file that is made here, the `draft`th; `set` says how it is to look, if anything is kept of that.
    pub(crate) fn made(&self, key: String, draft: u64, set: &SetAttr) -> Found {
        let version = Version { key: key.into(), etag: None, size: 0, draft };
        let found = self.object(version, Some(SystemTime::now()), &Metadata::default());
        Found { looks: found.looks.changed(set), ..found }
    }

    fn object(&self, version: Version, written: Option<SystemTime>, says: &Metadata) -> Found {
        let looks = Looks {
            kind: if says.kind == Some(Kind::Symlink) { Kind::Symlink } else { Kind::Regular },
            mode: says.mode.unwrap_or(self.file_mode),
            uid: says.uid.unwrap_or(self.uid),
            gid: says.gid.unwrap_or(self.gid),
            size: version.size,
            mtime: says.mtime.or(written.map(whole_seconds)).unwrap_or(self.opened),
        };
        Found { target: Target::Object(version), looks }
    }
}

/// Listings have milliseconds, answers about one object have seconds: a file has one time.
fn whole_seconds(time: SystemTime) -> Timestamp {
    Timestamp { nanos: 0, ..time.into() }
}
