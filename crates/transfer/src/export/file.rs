//! One file, and what is at its key.

use super::Export;
use crate::attributes::Carried;
use crate::import::Record;
use crate::tally::add;
use crate::tree::{self, is_same};
use crate::{Error, Result, blocking};
use rustix::fs::{FileType, Stat};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use stoa_bucket::tree::{Metadata, RESERVED};
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Headers, ObjectInfo};
use stoa_vfs::Name;

/// How often a file is tried that is written to while it is copied.
const TRIES: u32 = 4;

/// A file, as it was when it was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) content: Content,
    pub(super) stat: Stat,
    pub(super) headers: Headers,
    pub(super) left_out: u64,
    carried: Carried,
}

/// What is in it.
#[derive(Debug, Clone)]
pub(super) enum Content {
    File(Arc<File>),
    /// Where a link leads.
    Link(Vec<u8>),
}

impl Opened {
    pub(super) fn size(&self) -> u64 {
        match &self.content {
            Content::File(_) => self.stat.st_size.cast_unsigned(),
            Content::Link(target) => target.len() as u64,
        }
    }

    async fn is_import_of(&self, info: &ObjectInfo) -> Result<bool> {
        let Content::File(file) = &self.content else { return Ok(false) };
        let (file, stat, info) = (Arc::clone(file), self.stat, info.clone());
        blocking(move || Record::is_of(&file, &stat, &info)).await
    }

    /// Fails if it was written to since.
    pub(super) fn check(&self) -> Result<()> {
        let Content::File(file) = &self.content else { return Ok(()) };
        match is_same(&self.stat, &rustix::fs::fstat(file)?) {
            true => Ok(()),
            false => Err(Error::Refused(CHANGED.to_owned())),
        }
    }
}

pub(super) const CHANGED: &str = "it is written to while it is copied";

impl Export {
    /// Copies a file or a link, if its object is not there.
    pub(super) async fn file(self: &Arc<Self>, path: &[Name], key: &str, is_empty: bool) -> Result<()> {
        for attempt in 1.. {
            self.tally.go_on()?;
            let opened = self.open(path).await?;
            let there = self.there(key, is_empty && attempt == 1).await?;
            if let Some(info) = &there
                && self.is_settled(&opened, info).await?
            {
                add(&self.tally.same, 1);
                return Ok(());
            }
            if self.options.dry_run {
                add(&self.tally.files, 1);
                add(&self.tally.bytes, opened.size());
                return Ok(());
            }
            let left_out = opened.left_out;
            match self.send(key, opened, there.as_ref()).await {
                Err(Error::Refused(text)) if text == CHANGED && attempt < TRIES => {}
                // It may be the same: a request of an export that was killed still came through.
                Err(Error::Objects(ObjectsError::Conflict { .. })) if attempt < TRIES => {}
                Ok(()) => {
                    add(&self.tally.files, 1);
                    add(&self.tally.attributes_left_out, left_out);
                    return Ok(());
                }
                failed => return failed,
            }
        }
        Ok(())
    }

    async fn open(self: &Arc<Self>, path: &[Name]) -> Result<Opened> {
        let (export, path) = (Arc::clone(self), path.to_vec());
        blocking(move || {
            let (name, above) = path.split_last().ok_or_else(|| Error::Refused("it has no name".to_owned()))?;
            let gone = || Error::Refused("it is gone".to_owned());
            let dir = export.tree.find(above)?.ok_or_else(gone)?;
            let found = tree::look(&dir, name)?.ok_or_else(gone)?;
            let (content, stat, mut carried) = match FileType::from_raw_mode(found.st_mode) {
                FileType::Symlink => {
                    let target = rustix::fs::readlinkat(&dir, name.as_bytes(), Vec::new())?.into_bytes();
                    (Content::Link(target), found, Carried::by_stat(&found))
                }
                FileType::RegularFile => {
                    let file = export.tree.file(&path)?;
                    let stat = rustix::fs::fstat(&file)?;
                    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                        return Err(Error::Refused("it became something else while it was copied".to_owned()));
                    }
                    let carried = Carried::by_file(&file, &stat)?;
                    (Content::File(Arc::new(file)), stat, carried)
                }
                _ => return Err(Error::Refused("it is no file any more".to_owned())),
            };
            let headers = export.stored(carried.headers());
            Ok(Opened { content, stat, headers, left_out: carried.left_out, carried })
        })
        .await
    }

    /// Whether what is there need not be replaced.
    ///
    /// # Errors
    /// If it may not be.
    async fn is_settled(&self, opened: &Opened, info: &ObjectInfo) -> Result<bool> {
        let says = Metadata::read(&info.headers.metadata);
        let same_time = info.size == opened.size() && says.mtime == opened.carried.attributes.mtime;
        let imported = opened.is_import_of(info).await?;
        if (same_time || imported) && agree(&info.headers.metadata, &opened.headers.metadata) {
            return Ok(true);
        }
        // Where only what it says of itself differs, nothing is lost.
        let is_own = imported || (same_time && opened.carried.has_all_of(&info.headers));
        match is_own || self.options.overwrite {
            true => Ok(false),
            false => Err(Error::Refused(
                "the object that is there differs, and may be somebody else's: --overwrite replaces it".to_owned(),
            )),
        }
    }
}

/// Whether an object says of a file nothing that is not so, and all that only the file knows. Those that others wrote need not say what we
/// would, and may say more.
pub(super) fn agree(object: &BTreeMap<String, String>, file: &BTreeMap<String, String>) -> bool {
    let reserved = |name: &String| RESERVED.contains(&name.as_str());
    let said = |(name, value): (&String, &String)| match file.get(name) {
        Some(own) => own == value || (name == "mtime" && Metadata::read(object).mtime == Metadata::read(file).mtime),
        None => true,
    };
    object.iter().all(said) && file.keys().all(|name| reserved(name) || object.contains_key(name))
}
