//! What a tree was after every operation, and what of it must be found after a crash.

use std::collections::{BTreeMap, HashMap};
use stoa_conformance::{Model, Op, Tree, snapshot};
use stoa_vfs::{Ino, Kind, Name, RenameMode, Vfs};

/// The tree after one operation.
struct Moment {
    tree: Tree,
    inodes: HashMap<Vec<u8>, Ino>,
}

/// The tree after every operation.
pub(crate) struct History {
    moments: Vec<Moment>,
    /// Names are durable up to this moment.
    names_from: usize,
    /// The content of an inode is durable up to this moment.
    content_from: HashMap<Ino, usize>,
    all_content_from: usize,
    /// A rename at this moment replaced something by the inode.
    replaced_by: Vec<(usize, Ino)>,
}

impl History {
    pub(crate) async fn new(model: &Model) -> Self {
        let moments = vec![moment(model).await];
        Self { moments, names_from: 0, content_from: HashMap::new(), all_content_from: 0, replaced_by: Vec::new() }
    }

    /// Notes the state after `op`, and what is durable if it was `done`.
    pub(crate) async fn push(&mut self, model: &Model, op: &Op, done: bool) {
        self.moments.push(moment(model).await);
        let now = self.moments.len() - 1;
        match op {
            Op::Sync if done => {
                self.names_from = now;
                self.all_content_from = now;
            }
            Op::Fsync { .. } if done => self.names_from = now,
            Op::Rename { mode: RenameMode::Replace, .. } if done => self.note_replaced(now),
            _ => {}
        }
    }

    fn note_replaced(&mut self, now: usize) {
        let (before, after) = (&self.moments[now - 1], &self.moments[now]);
        for (path, ino) in &after.inodes {
            if before.inodes.get(path).is_some_and(|old| old != ino) {
                self.replaced_by.push((now, *ino));
            }
        }
    }

    /// Whether `found` is what a crash may leave.
    pub(crate) fn explains(&self, found: &Tree) -> Result<(), String> {
        let mut reasons = Vec::new();
        for moment in (self.names_from..self.moments.len()).rev() {
            if names(&self.moments[moment].tree) != names(found) {
                continue;
            }
            match self.explains_content(moment, found) {
                Ok(()) => return Ok(()),
                Err(reason) => reasons.push(format!("with the names after operation {moment}: {reason}")),
            }
        }
        if reasons.is_empty() {
            let last = self.moments.last().unwrap();
            let expected = &self.moments[self.names_from].tree;
            return Err(format!(
                "the names are those of no moment from {} to {}; found (left) and the durable moment:\n{}\nfound and the last:\n{}",
                self.names_from,
                self.moments.len() - 1,
                stoa_conformance::diff(found, expected).join("\n"),
                stoa_conformance::diff(found, &last.tree).join("\n"),
            ));
        }
        Err(reasons.join("\n"))
    }

    fn explains_content(&self, moment: usize, found: &Tree) -> Result<(), String> {
        for (path, picture) in found.iter().filter(|(_, picture)| picture.attr.kind == Kind::Regular) {
            let ino = self.moments[moment].inodes[path];
            let replaced =
                self.replaced_by.iter().filter(|(when, by)| *by == ino && *when <= moment).map(|(when, _)| *when);
            let from = self.content_from.get(&ino).copied().unwrap_or(0).max(self.all_content_from);
            let from = replaced.max().unwrap_or(0).max(from);
            let had = |at: &Moment| {
                let of_ino = at.inodes.iter().filter(|(_, other)| **other == ino);
                of_ino
                    .map(|(path, _)| &at.tree[path])
                    .any(|then| (then.content, then.attr.size) == (picture.content, picture.attr.size))
            };
            if !self.moments[from..].iter().any(had) {
                let shown = String::from_utf8_lossy(path);
                return Err(format!(
                    "{shown} has {:?} bytes, a content that it never had since operation {from}",
                    picture.attr.size
                ));
            }
        }
        Ok(())
    }
}

async fn moment(model: &Model) -> Moment {
    let tree = snapshot(model).await.unwrap();
    let mut inodes = HashMap::new();
    for path in tree.keys() {
        let mut ino = Ino::ROOT;
        for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
            ino = model.lookup(ino, &Name::new(part.to_vec()).unwrap()).await.unwrap().attr.ino;
            model.forget(ino, 1);
        }
        inodes.insert(path.clone(), ino);
    }
    Moment { tree, inodes }
}

/// Everything of a tree that does not follow from the content of files.
fn names(tree: &Tree) -> BTreeMap<Vec<u8>, String> {
    let shown = |picture: &stoa_conformance::random::Picture| {
        let attr = &picture.attr;
        let target = if attr.kind == Kind::Symlink { picture.content } else { 0 };
        let fixed = (attr.kind, attr.mode, attr.nlink, attr.uid, attr.gid);
        format!("{fixed:?} {target} {:?} {}", picture.xattrs, String::from_utf8_lossy(&picture.first_name))
    };
    tree.iter().map(|(path, picture)| (path.clone(), shown(picture))).collect()
}
