//! Rename, in its three modes; checks come in the order of Linux (`vfs_rename`).

use super::state::State;
use stoa_vfs::{Error, Ino, Kind, Name, RenameMode, Result};

/// One end of a rename.
#[derive(Clone, Copy)]
struct Place<'a> {
    dir: Ino,
    name: &'a Name,
}

impl State {
    pub(super) fn rename(
        &mut self,
        parent: Ino,
        name: &Name,
        to: Ino,
        new_name: &Name,
        mode: RenameMode,
    ) -> Result<()> {
        let source = self.child(parent, name)?;
        self.check_alive(to)?;
        let target = self.child(to, new_name).ok();
        match (mode, target) {
            (RenameMode::NoReplace, Some(_)) => return Err(Error::Exists),
            (RenameMode::Exchange, None) => return Err(Error::NotFound),
            _ => {}
        }
        if self.is_inside(to, source)? {
            return Err(Error::Invalid("a directory can't move into itself"));
        }
        if target == Some(source) {
            // Two names of one file: POSIX wants both to stay.
            return Ok(());
        }
        let (from, to) = (Place { dir: parent, name }, Place { dir: to, name: new_name });
        match target {
            Some(target) if mode == RenameMode::Exchange => self.exchange(from, source, to, target),
            Some(target) => self.replace(from, source, to, target),
            None => self.move_to(from, source, to),
        }
    }

    /// Whether directory `dir` is `top` or lies below it.
    fn is_inside(&self, dir: Ino, top: Ino) -> Result<bool> {
        let mut at = dir;
        while at != top {
            if at == Ino::ROOT {
                return Ok(false);
            }
            at = self.parent(at)?;
        }
        Ok(true)
    }

    fn exchange(&mut self, from: Place<'_>, source: Ino, to: Place<'_>, target: Ino) -> Result<()> {
        if self.is_inside(from.dir, target)? {
            return Err(Error::Invalid("a directory can't move into itself"));
        }
        self.name(from, target)?;
        self.name(to, source)?;
        self.move_parent(source, from.dir, to.dir)?;
        self.move_parent(target, to.dir, from.dir)?;
        self.inode_mut(source)?.touch_ctime();
        self.inode_mut(target)?.touch_ctime();
        Ok(())
    }

    fn replace(&mut self, from: Place<'_>, source: Ino, to: Place<'_>, target: Ino) -> Result<()> {
        if self.is_inside(from.dir, target)? {
            // The target holds the source, so it can't be empty.
            return Err(Error::NotEmpty);
        }
        let source_is_dir = self.inode(source)?.kind() == Kind::Directory;
        let target_is_dir = self.inode(target)?.kind() == Kind::Directory;
        match (source_is_dir, target_is_dir) {
            (true, false) => return Err(Error::NotDirectory),
            (false, true) => return Err(Error::IsDirectory),
            (true, true) if !self.inode(target)?.directory()?.is_empty() => return Err(Error::NotEmpty),
            _ => {}
        }
        self.move_to(from, source, to)?;
        if target_is_dir {
            self.inode_mut(to.dir)?.nlink -= 1;
        }
        self.drop_name(target)
    }

    fn move_to(&mut self, from: Place<'_>, source: Ino, to: Place<'_>) -> Result<()> {
        self.remove_name(from.dir, from.name)?;
        self.name(to, source)?;
        self.move_parent(source, from.dir, to.dir)?;
        self.inode_mut(source)?.touch_ctime();
        Ok(())
    }

    fn name(&mut self, place: Place<'_>, ino: Ino) -> Result<()> {
        let directory = self.inode_mut(place.dir)?;
        directory.directory_mut()?.insert(place.name, ino);
        directory.touch_mtime();
        Ok(())
    }

    /// A directory that moved has another `..`, which is a link to its parent.
    fn move_parent(&mut self, ino: Ino, from: Ino, to: Ino) -> Result<()> {
        let Ok(directory) = self.inode_mut(ino)?.directory_mut() else { return Ok(()) };
        directory.parent = Some(to);
        self.inode_mut(from)?.nlink -= 1;
        self.inode_mut(to)?.nlink += 1;
        Ok(())
    }
}
