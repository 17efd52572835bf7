//! Walking paths, with every reference given back.

use super::op::Path;
use stoa_vfs::{Attr, Entry, Ino, Name, Result, Vfs};

/// References that are given back when this goes.
pub(super) struct Held<'a> {
    vfs: &'a dyn Vfs,
    inos: Vec<Ino>,
}

impl<'a> Held<'a> {
    pub(super) fn new(vfs: &'a dyn Vfs) -> Self {
        Self { vfs, inos: Vec::new() }
    }

    /// Takes the reference that an entry is.
    pub(super) fn take(&mut self, entry: Entry) -> Attr {
        self.inos.push(entry.attr.ino);
        entry.attr
    }

    /// The inode that a path names.
    pub(super) async fn walk(&mut self, path: &Path) -> Result<Ino> {
        let mut at = Ino::ROOT;
        for name in path.names() {
            let entry = self.vfs.lookup(at, &name).await?;
            at = self.take(entry).ino;
        }
        Ok(at)
    }

    /// The directory and the name that a path, which is not the root's, ends in.
    pub(super) async fn walk_to_parent(&mut self, path: &Path) -> Result<(Ino, Name)> {
        let mut dirs = path.clone();
        dirs.0.pop();
        let dir = self.walk(&dirs).await?;
        Ok((dir, path.names().last().unwrap()))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        for ino in &self.inos {
            self.vfs.forget(*ino, 1);
        }
    }
}
