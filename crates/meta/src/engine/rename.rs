//! Renaming (renameat2(2)).

use super::Inner;
use super::names::Changing;
use crate::record::Inode;
use crate::{Error, Linked, Result};
use std::sync::Arc;
use stoa_vfs::{Error as FileError, Ino, Kind, Name, RenameMode, Timestamp};

/// A name, where it is, and what it names.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    parent: Ino,
    name: &'a Name,
    found: Option<(Ino, Kind)>,
}

impl Place<'_> {
    fn is_directory(&self) -> bool {
        matches!(self.found, Some((_, Kind::Directory)))
    }
}

impl Inner {
    pub(super) async fn rename_name(
        self: &Arc<Self>,
        parent: Ino,
        name: &Name,
        to: Ino,
        new_name: &Name,
        mode: RenameMode,
    ) -> Result<Option<Linked>> {
        self.admit().await?;
        loop {
            let from = Place { parent, name, found: self.find(parent, name).await? };
            let target = Place { parent: to, name: new_name, found: self.find(to, new_name).await? };
            self.check_places(&from, &target, mode).await?;
            // Directories that change their parents can make a loop together: one at a time.
            let moves_directory = parent != to && (from.is_directory() || target.is_directory());
            let _alone = if moves_directory { Some(self.moving.lock().await) } else { None };
            if moves_directory {
                self.check_no_loop(&from, &target, mode).await?;
            }
            let inodes: Vec<Ino> =
                [from.found, target.found].into_iter().flatten().map(|found| found.0).chain([parent, to]).collect();
            let _locked = self.locks.exclusive(&inodes).await;
            let unchanged = self.locked_find(parent, name).await? == from.found
                && self.locked_find(to, new_name).await? == target.found;
            if unchanged {
                return self.rename_locked(&from, &target, mode).await;
            }
        }
    }

    /// What can be refused from the names alone, in the order of Linux (`vfs_rename`).
    async fn check_places(&self, from: &Place<'_>, target: &Place<'_>, mode: RenameMode) -> Result<()> {
        let is_directory = async |ino| self.inode(ino).await.map(|inode| inode.kind == Kind::Directory);
        if !is_directory(from.parent).await? || (from.found.is_some() && !is_directory(target.parent).await?) {
            return Err(FileError::NotDirectory.into());
        }
        match (from.found, mode, target.found) {
            (None, ..) | (_, RenameMode::Exchange, None) => Err(FileError::NotFound.into()),
            (_, RenameMode::NoReplace, Some(_)) => Err(FileError::Exists.into()),
            _ => Ok(()),
        }
    }

    /// A directory must not go below itself, nor, in an exchange, the other one.
    async fn check_no_loop(&self, from: &Place<'_>, target: &Place<'_>, mode: RenameMode) -> Result<()> {
        if let Some((ino, Kind::Directory)) = from.found
            && self.is_within(target.parent, ino).await?
        {
            return Err(FileError::Invalid("a directory can't be moved into itself").into());
        }
        if let Some((ino, Kind::Directory)) = target.found
            && self.is_within(from.parent, ino).await?
        {
            return Err(match mode {
                RenameMode::Exchange => FileError::Invalid("a directory can't be moved into itself"),
                RenameMode::Replace | RenameMode::NoReplace => FileError::NotEmpty,
            }
            .into());
        }
        Ok(())
    }

    async fn is_within(&self, mut directory: Ino, ancestor: Ino) -> Result<bool> {
        // Damaged records can lead in a circle: whoever goes round passes one that was remembered (Brent's algorithm).
        let mut remembered = directory;
        for step in 1_u64.. {
            if directory == ancestor {
                return Ok(true);
            }
            if directory == Ino::ROOT {
                return Ok(false);
            }
            directory = self.inode(directory).await?.parent;
            if directory == remembered {
                break;
            }
            if step.is_power_of_two() {
                remembered = directory;
            }
        }
        Err(Error::Corrupt(format!("directory {directory} is inside of itself; run `stoa fsck`")))
    }

    async fn rename_locked(&self, from: &Place<'_>, target: &Place<'_>, mode: RenameMode) -> Result<Option<Linked>> {
        self.live_directory(from.parent).await?;
        self.live_directory(target.parent).await?;
        let Some(moved) = from.found else { return Err(FileError::NotFound.into()) };
        let mut changing = Changing::default();
        let now = Timestamp::now();
        let replaced = match (mode, target.found) {
            (_, Some(other)) if other.0 == moved.0 => return Ok(None),
            (RenameMode::Exchange, Some(other)) => {
                self.exchange(&mut changing, (from, moved), (target, other), now).await?;
                None
            }
            (_, other) => self.replace_name(&mut changing, (from, moved), (target, other), now).await?,
        };
        self.finish(changing);
        Ok(replaced)
    }

    async fn exchange(
        &self,
        changing: &mut Changing,
        (from, moved): (&Place<'_>, (Ino, Kind)),
        (target, other): (&Place<'_>, (Ino, Kind)),
        now: Timestamp,
    ) -> Result<()> {
        self.rename_to(changing, from.parent, from.name, other.0, other.1).await?;
        self.rename_to(changing, target.parent, target.name, moved.0, moved.1).await?;
        let directory = |kind| i32::from(kind == Kind::Directory);
        let difference = directory(other.1) - directory(moved.1);
        let crossing = from.parent != target.parent;
        self.resize(changing, from.parent, 0, if crossing { difference } else { 0 }, now).await?;
        self.resize(changing, target.parent, 0, if crossing { -difference } else { 0 }, now).await?;
        self.move_inode(changing, moved.0, target.parent, now).await?;
        self.move_inode(changing, other.0, from.parent, now).await
    }

    async fn replace_name(
        &self,
        changing: &mut Changing,
        (from, moved): (&Place<'_>, (Ino, Kind)),
        (target, other): (&Place<'_>, Option<(Ino, Kind)>),
        now: Timestamp,
    ) -> Result<Option<Linked>> {
        match (moved.1 == Kind::Directory, other.map(|other| other.1 == Kind::Directory)) {
            (true, Some(false)) => return Err(FileError::NotDirectory.into()),
            (false, Some(true)) => return Err(FileError::IsDirectory.into()),
            _ => {}
        }
        let replaced = match other {
            Some((ino, _)) => Some(self.drop_link(changing, ino, now).await?),
            None => None,
        };
        self.take_name(changing, from.parent, from.name).await?;
        self.rename_to(changing, target.parent, target.name, moved.0, moved.1).await?;
        let directory = i32::from(moved.1 == Kind::Directory);
        let gone = i64::from(other.is_some());
        let gone_directory = if other.is_some() { directory } else { 0 };
        self.resize(changing, from.parent, -1, -directory, now).await?;
        self.resize(changing, target.parent, 1 - gone, directory - gone_directory, now).await?;
        self.move_inode(changing, moved.0, target.parent, now).await?;
        Ok(replaced)
    }

    async fn move_inode(&self, changing: &mut Changing, ino: Ino, parent: Ino, now: Timestamp) -> Result<()> {
        let inode = self.inode_in(changing, ino).await?;
        let parent = if inode.kind == Kind::Directory { parent } else { inode.parent };
        changing.put_inode(ino, Inode { parent, ctime: now, ..(*inode).clone() });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
