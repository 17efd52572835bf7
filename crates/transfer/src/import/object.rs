//! One object, and what is at its name.

use super::{Import, Record, There};
use crate::attributes::mtime;
use crate::tally::add;
use crate::tree::{self, Dir, TEMPORARY};
use crate::{Error, Result, blocking};
use rustix::fs::{FileType, Stat};
use std::sync::Arc;
use stoa_bucket::tree::{Metadata, path_of_object};
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Listed, ObjectInfo};
use stoa_vfs::{Name, Timestamp};

/// How often an object is tried that is replaced while it is copied.
const TRIES: u32 = 4;

/// Where an object goes.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) above: Vec<Name>,
    pub(super) name: Name,
    pub(super) temporary: String,
}

impl Spot {
    pub(super) fn path(&self) -> Vec<Name> {
        self.above.iter().chain([&self.name]).cloned().collect()
    }
}

/// What is there.
#[derive(Debug)]
pub(super) struct Seen {
    /// The directory; none if it is still to be made.
    pub(super) dir: Option<Dir>,
    /// What is at the name.
    pub(super) stat: Option<Stat>,
    there: Option<There>,
}

impl Import {
    /// Copies an object, if it is not there.
    pub(super) async fn object(self: &Arc<Self>, listed: Listed, beside: bool) {
        let key = listed.key.clone();
        let copied = self.try_object(listed, beside).await;
        self.note(&key, copied);
    }

    async fn try_object(self: &Arc<Self>, mut listed: Listed, beside: bool) -> Result<()> {
        let spot = spot(&listed.key, beside)?;
        // From here on it is the object with its whole key.
        listed.key = format!("{}{}", self.prefix, listed.key);
        for attempt in 1.. {
            self.tally.go_on()?;
            let seen = self.look(&spot, &listed).await?;
            if self.is_settled(&seen, &listed).await? {
                add(&self.tally.same, 1);
                // The run that wrote it may have been killed before it was durable.
                if !self.options.dry_run {
                    self.written.lock().push(spot.path());
                }
                return Ok(());
            }
            if self.options.dry_run {
                add(&self.tally.files, 1);
                add(&self.tally.bytes, listed.size);
                return Ok(());
            }
            match self.fetch(&spot, &seen, &listed).await {
                // It was replaced since it was listed.
                Err(Error::Objects(ObjectsError::Conflict { .. })) if attempt < TRIES => {
                    let info = self.s3.head(&listed.key, None).await?;
                    listed = Listed { size: info.size, etag: info.etag, modified: info.modified, ..listed };
                }
                done => return done,
            }
        }
        Ok(())
    }

    async fn look(self: &Arc<Self>, spot: &Spot, listed: &Listed) -> Result<Seen> {
        let (import, spot, listed) = (Arc::clone(self), spot.clone(), listed.clone());
        blocking(move || {
            let Some(dir) = import.tree.find(&spot.above)? else {
                return Ok(Seen { dir: None, stat: None, there: None });
            };
            let Some(stat) = tree::look(&dir, &spot.name)? else {
                return Ok(Seen { dir: Some(dir), stat: None, there: None });
            };
            let there = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Record::compare(&dir, &spot.name, &stat, &listed)?,
                FileType::Symlink => There::Other,
                FileType::Directory => return Err(Error::Refused("there is a directory of its name".to_owned())),
                _ => return Err(Error::Refused("there is something of its name that is no file".to_owned())),
            };
            Ok(Seen { dir: Some(dir), stat: Some(stat), there: Some(there) })
        })
        .await
    }

    /// Whether what is there need not be copied.
    ///
    /// # Errors
    /// If it may not be replaced.
    async fn is_settled(self: &Arc<Self>, seen: &Seen, listed: &Listed) -> Result<bool> {
        let (Some(stat), Some(there)) = (&seen.stat, &seen.there) else { return Ok(false) };
        match there {
            There::Same => return Ok(true),
            There::Older | There::Cut => return Ok(false),
            There::Other => {}
        }
        // Not imported, or on a file system that keeps no record: of the same size and time, it is taken for the same.
        if stat.st_size.cast_unsigned() == listed.size {
            let info = self.s3.head(&listed.key, None).await?;
            if info.size == listed.size && written(&info) == Some(mtime(stat)) {
                return Ok(true);
            }
        }
        match self.options.overwrite {
            true => Ok(false),
            false => Err(Error::Refused(
                "the file that is there differs, and may have been changed here: --overwrite replaces it".to_owned(),
            )),
        }
    }
}

/// The time that its file has.
fn written(info: &ObjectInfo) -> Option<Timestamp> {
    Metadata::read(&info.headers.metadata).mtime.or(info.modified.map(Timestamp::from))
}

fn spot(key: &str, beside: bool) -> Result<Spot> {
    let mut above = path_of_object(key, beside).ok_or_else(|| Error::Refused("it has no path".to_owned()))?;
    let name = above.pop().ok_or_else(|| Error::Refused("it has no name".to_owned()))?;
    if name.as_bytes().starts_with(TEMPORARY.as_bytes()) {
        let text = format!("names that begin with {TEMPORARY} are those of files that are not complete");
        return Err(Error::Refused(text));
    }
    Ok(Spot { above, name, temporary: tree::temporary(key) })
}
