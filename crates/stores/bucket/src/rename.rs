//! Names that move: objects are copied inside the store, and then removed where they were.

mod copy;
mod directory;
mod file;
mod journal;
mod owner;
mod pass;
mod resume;

pub(crate) use copy::Copy;
pub(crate) use journal::is_journal;

use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::error::told;
use crate::found::{Found, Target, Version};
use crate::inodes::Node;
use crate::moves::{Work, Working};
use crate::naming::component;
use std::sync::Arc;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::limits::KEY_BYTES_MAX;
use stoa_vfs::{Error, Ino, Name, RenameMode, Result};

/// A name in a directory.
#[derive(Debug)]
struct Place<'n> {
    node: Arc<Node>,
    directory: Directory,
    name: &'n Name,
}

impl Bucket {
    /// Moves a name.
    pub(crate) async fn rename_in(&self, from: (Ino, &Name), to: (Ino, &Name), mode: RenameMode) -> Result<()> {
        if mode == RenameMode::Exchange {
            return Err(Error::Unsupported("exchanging objects"));
        }
        let working = self.begin(Work::Move, &[(from.0, Some(from.1)), (to.0, Some(to.1))]).await?;
        let (from, to) = (self.place(from)?, self.place(to)?);
        let found = self.find(&from.node, &from.directory, from.name).await?;
        match &found.target {
            Target::Object(_) => self.rename_object(&working, &from, &found, &to, mode).await,
            Target::Directory(moved) => self.rename_below(&working, &from, moved, &to, mode).await,
        }
    }

    fn place<'n>(&self, (parent, name): (Ino, &'n Name)) -> Result<Place<'n>> {
        let (node, directory) = self.directory(parent)?;
        Ok(Place { node, directory, name })
    }

    async fn rename_object(
        &self,
        working: &Working<'_>,
        from: &Place<'_>,
        found: &Found,
        to: &Place<'_>,
        mode: RenameMode,
    ) -> Result<()> {
        let key = to.directory.key(&component(&to.directory, to.name)?);
        let Some(replaced) = self.replaced(from, to, mode).await? else { return Ok(()) };
        let replaced = match replaced {
            Some(Found { target: Target::Directory(_), .. }) => return Err(Error::IsDirectory),
            Some(Found { target: Target::Object(version), .. }) => Some(version),
            None => None,
        };
        if key.len() > KEY_BYTES_MAX {
            return Err(Error::NameTooLong);
        }
        // It may have been stored meanwhile: then it is found as that.
        let found = match found.target {
            Target::Object(Version { draft: 1.., .. }) => &self.find(&from.node, &from.directory, from.name).await?,
            _ => found,
        };
        self.rename_file(working, found, key.into(), replaced).await?;
        self.keep(&from.node, &from.directory).await
    }

    async fn rename_below(
        &self,
        working: &Working<'_>,
        from: &Place<'_>,
        moved: &Directory,
        to: &Place<'_>,
        mode: RenameMode,
    ) -> Result<()> {
        if moved.is_continued() {
            return Err(Error::Unsupported("renaming the beginning of names that are too long"));
        }
        if to.directory.prefix().starts_with(moved.prefix()) {
            return Err(Error::Invalid("a directory can't become a part of itself"));
        }
        let target = to.directory.below(&component(&to.directory, to.name)?);
        let Some(replaced) = self.replaced(from, to, mode).await? else { return Ok(()) };
        match &replaced {
            Some(Found { target: Target::Object(_), .. }) => return Err(Error::NotDirectory),
            Some(Found { target: Target::Directory(there), .. }) if there.is_continued() => {
                return Err(Error::NotEmpty);
            }
            _ => {}
        }
        if target.prefix().len() > KEY_BYTES_MAX {
            return Err(Error::NameTooLong);
        }
        self.rename_directory(working, moved, &target, replaced.is_some()).await?;
        self.keep(&from.node, &from.directory).await
    }

    /// What has the new name by now; `None` if it is the old name, and nothing is to be done.
    async fn replaced(&self, from: &Place<'_>, to: &Place<'_>, mode: RenameMode) -> Result<Option<Option<Found>>> {
        if to.node.is_stale() {
            return Err(Error::NotFound);
        }
        let there = match self.find(&to.node, &to.directory, to.name).await {
            Ok(found) => Some(found),
            Err(Error::NotFound) => None,
            Err(error) => return Err(error),
        };
        if there.is_some() && mode == RenameMode::NoReplace {
            return Err(Error::Exists);
        }
        Ok((from.directory != to.directory || from.name != to.name).then_some(there))
    }

    /// Begins to work on names, or on what inodes are of, as soon as nobody moves them.
    pub(crate) async fn begin(&self, work: Work, places: &[(Ino, Option<&Name>)]) -> Result<Working<'_>> {
        loop {
            let moved = self.inodes.moved();
            let working = self.moves.begin(work, self.paths(places)?).await;
            // They may have been moved meanwhile.
            if self.inodes.moved() == moved || working.is_with(&self.paths(places)?) {
                return Ok(working);
            }
        }
    }

    fn paths(&self, places: &[(Ino, Option<&Name>)]) -> Result<Vec<String>> {
        let path = |(ino, name): &(Ino, Option<&Name>)| {
            let target = self.inodes.get(*ino)?.target();
            Ok(match (target, name) {
                (Target::Object(version), _) => format!("{}/", version.key),
                (Target::Directory(directory), None) => directory.prefix().to_owned(),
                // What is no name of anything does not meet anything.
                (Target::Directory(directory), Some(name)) => match crate::escape::decode(name) {
                    Some((text, _)) => format!("{}{text}/", directory.prefix()),
                    None => directory.prefix().to_owned(),
                },
            })
        };
        places.iter().map(path).collect()
    }
}

/// What a failed copy means: a condition that did not hold is somebody else's change.
fn told_of_copy(error: ObjectsError) -> Error {
    match error {
        ObjectsError::NotFound { .. } => Error::Stale,
        error => told(error),
    }
}

/// A name for one rename, or one copy, that no other has.
pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

#[cfg(test)]
mod tests;
