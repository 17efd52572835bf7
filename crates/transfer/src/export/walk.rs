//! Finding what is in a tree.

use super::{Export, shown};
use crate::tree::{Dir as Open, TEMPORARY};
use crate::{Error, Result};
use rustix::fs::{Dir, FileType};
use std::ops::ControlFlow;
use stoa_bucket::tree::{Spelled, directory_at, object_at};
use stoa_vfs::Name;
use tokio::sync::mpsc::Sender;

/// What was found, and the key that it has below the prefix.
#[derive(Debug)]
pub(super) enum Found {
    Directory {
        path: Vec<Name>,
        key: String,
    },
    /// A file or a link.
    File {
        path: Vec<Name>,
        key: String,
    },
}

/// A directory that is being read.
struct Level {
    path: Vec<Name>,
    open: Open,
    entries: Dir,
}

impl Export {
    /// Sends all that has a key, until nobody listens. What has none is a problem.
    pub(super) fn walk(&self, found: &Sender<Found>) {
        let mut levels = Vec::new();
        let mut next = Some(Vec::new());
        loop {
            if let Some(path) = next.take() {
                match self.enter(path.clone()) {
                    Ok(level) => levels.push(level),
                    Err(error) => self.tally.problem(&shown(&path), &error),
                }
            }
            let Some(level) = levels.last_mut() else { return };
            let Some(entry) = level.entries.next() else {
                levels.pop();
                continue;
            };
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => {
                    self.tally.problem(&shown(&level.path), &errno.into());
                    levels.pop();
                    continue;
                }
            };
            // Only "." and ".." are no names.
            let Ok(name) = Name::new(entry.file_name().to_bytes().to_vec()) else { continue };
            match self.entry(level, &name, entry.file_type(), found) {
                Ok(ControlFlow::Continue(below)) => next = below,
                Ok(ControlFlow::Break(())) => return,
                Err(error) => self.tally.problem(&shown(&joined(&level.path, &name)), &error),
            }
        }
    }

    fn enter(&self, path: Vec<Name>) -> Result<Level> {
        let open = self.tree.find(&path)?.ok_or_else(|| Error::Refused("it is gone".to_owned()))?;
        let entries = Dir::read_from(&open)?;
        Ok(Level { path, open, entries })
    }

    /// Sends an entry. Returns a directory that is to be entered.
    fn entry(
        &self,
        level: &Level,
        name: &Name,
        kind: FileType,
        found: &Sender<Found>,
    ) -> Result<ControlFlow<(), Option<Vec<Name>>>> {
        if name.as_bytes().starts_with(TEMPORARY.as_bytes()) {
            return Err(Error::Refused("an import that was interrupted left it: it is not complete".to_owned()));
        }
        let path = joined(&level.path, name);
        let kind = match kind {
            FileType::Unknown => match crate::tree::look(&level.open, name)? {
                Some(stat) => FileType::from_raw_mode(stat.st_mode),
                None => return Ok(ControlFlow::Continue(None)),
            },
            known => known,
        };
        match kind {
            FileType::Directory => {
                let marker = match directory_at(&path).ok_or_else(no_key)? {
                    // Its marker is the file that stands for it.
                    Spelled::Directory(key) if self.has_own_object(&path)? => {
                        tracing::debug!(key, "the directory's marker has content");
                        None
                    }
                    Spelled::Directory(key) => Some(key),
                    Spelled::Object { .. } | Spelled::Continued => None,
                };
                let sent = marker.is_none_or(|key| send(found, Found::Directory { path: path.clone(), key }));
                Ok(if sent { ControlFlow::Continue(Some(path)) } else { ControlFlow::Break(()) })
            }
            FileType::RegularFile | FileType::Symlink => {
                let Some(Spelled::Object { key, beside }) = object_at(&path) else { return Err(no_key()) };
                if key.is_empty() {
                    return Err(no_key());
                }
                if beside && !self.has_directory(&key)? {
                    return Err(Error::Refused(
                        "its name stands for an object beside a directory, and there is none: rename it".to_owned(),
                    ));
                }
                let sent = send(found, Found::File { path, key });
                Ok(if sent { ControlFlow::Continue(None) } else { ControlFlow::Break(()) })
            }
            _ => Err(Error::Refused("devices, FIFOs and sockets are no objects".to_owned())),
        }
    }

    /// Whether a directory has a file that is the content of its marker.
    fn has_own_object(&self, path: &[Name]) -> Result<bool> {
        let Some(dir) = self.tree.find(path)? else { return Ok(false) };
        for name in ["%@-", "%@-%@file"] {
            let Ok(name) = Name::new(name.as_bytes()) else { continue };
            let stat = crate::tree::look(&dir, &name)?;
            if stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether there is a directory `key`, beside which an object's name says that it is.
    fn has_directory(&self, key: &str) -> Result<bool> {
        let directory = stoa_bucket::tree::path_of_directory(key).ok_or_else(no_key)?;
        Ok(self.tree.find(&directory)?.is_some())
    }
}

fn send(found: &Sender<Found>, one: Found) -> bool {
    found.blocking_send(one).is_ok()
}

fn joined(path: &[Name], name: &Name) -> Vec<Name> {
    let mut joined = path.to_vec();
    joined.push(name.clone());
    joined
}

fn no_key() -> Error {
    Error::Refused("no key has this name (it is not UTF-8, or has a wrong escape %@): rename it".to_owned())
}
