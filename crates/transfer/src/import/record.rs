//! What an imported file says of where it is from: by this a later run knows that it is still the same on both sides.

use crate::Result;
use crate::attributes::{mtime, value, value_at};
use crate::tree::Dir;
use rustix::fs::{Stat, XattrFlags};
use rustix::io::Errno;
use std::cmp::Ordering;
use std::fs::File;
use stoa_objects::s3::{Listed, ObjectInfo};
use stoa_vfs::Name;

/// The extended attribute it is in.
const NAME: &str = "user.stoa.source";

/// The content of an object: its size and tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    size: u64,
    etag: String,
}

/// What is at the name of an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum There {
    /// What was imported from this content.
    Same,
    /// What was imported from an earlier content, and not changed here.
    Older,
    /// What was imported and has lost its end: the machine, or the mount, ended before it was durable.
    Cut,
    /// Something else.
    Other,
}

impl Record {
    /// Of an object, if it has a tag.
    pub(crate) fn of(listed: &Listed) -> Option<Self> {
        Some(Self { size: listed.size, etag: listed.etag.clone()? })
    }

    /// Writes it into a file whose content and time are those that it will have.
    pub(crate) fn keep(&self, file: &File) -> Result<()> {
        let stat = rustix::fs::fstat(file)?;
        match rustix::fs::fsetxattr(file, NAME, self.text(&stat).as_bytes(), XattrFlags::empty()) {
            // Without one, sizes and times are compared.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::PERM | Errno::ACCESS | Errno::NOSPC | Errno::TOOBIG) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Has a later run copy a file again, if it was imported: its content may not be what was written to it.
    pub(crate) fn doubt(file: &File) -> Result<()> {
        if value(file, NAME)?.is_none() {
            return Ok(());
        }
        let size = rustix::fs::fstat(file)?.st_size.cast_unsigned();
        // No object has an empty tag: it is one of an earlier content.
        Self { size, etag: String::new() }.keep(file)
    }

    /// What a regular file is to the object `listed`.
    pub(crate) fn compare(dir: &Dir, name: &Name, stat: &Stat, listed: &Listed) -> Result<There> {
        let Some(kept) = value_at(dir, name, NAME)? else { return Ok(There::Other) };
        let kept = String::from_utf8_lossy(&kept).into_owned();
        if Self::of(listed).is_some_and(|record| record.text(stat) == kept)
            && stat.st_size.cast_unsigned() == listed.size
        {
            return Ok(There::Same);
        }
        // Of whatever content it is: is the file still as it was then? Who shortens it changes its time.
        let mut words = kept.split(' ');
        let size = words.next().and_then(|size| size.parse::<u64>().ok());
        let same_time = words.next() == Some(time(stat).as_str());
        Ok(match size.map(|size| stat.st_size.cast_unsigned().cmp(&size)) {
            Some(Ordering::Equal) if same_time => There::Older,
            Some(Ordering::Less) if same_time => There::Cut,
            _ => There::Other,
        })
    }

    /// Whether a file has the content of an object that it was imported from, and was not changed since.
    pub(crate) fn is_of(file: &File, stat: &Stat, info: &ObjectInfo) -> Result<bool> {
        let Some(etag) = info.etag.clone() else { return Ok(false) };
        let record = Self { size: info.size, etag };
        let kept = value(file, NAME)?;
        Ok(stat.st_size.cast_unsigned() == info.size && kept.is_some_and(|kept| record.text(stat).as_bytes() == kept))
    }

    fn text(&self, stat: &Stat) -> String {
        format!("{} {} {}", self.size, time(stat), self.etag)
    }
}

fn time(stat: &Stat) -> String {
    let time = mtime(stat);
    format!("{}.{:09}", time.secs, time.nanos)
}
