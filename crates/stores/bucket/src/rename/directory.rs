//! All objects below a directory get other keys.
//!
//! First all are copied, then all are removed where they were. In between lies the moment at which the directory changes its name for
//! who looks at it here. A journal in the bucket says which half it is in, so that whoever mounts the bucket after a crash goes on.

use super::journal::{Journal, Phase, Record};
use super::new_id;
use super::pass::{Passed, Trouble};
use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::draft::Draft;
use crate::error::told;
use crate::found::{Target, Version};
use crate::inodes::Node;
use crate::listing::first_below;
use crate::moves::{Hidden, Progress, Working};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use stoa_objects::{Error as ObjectsError, hex};
use stoa_vfs::{Error, Ino, Result};
use tokio::sync::MutexGuard;

/// So many objects are asked for at once.
const HEADS_AT_ONCE: usize = 32;

/// Files that are open for writing, and that nobody goes on with.
pub(super) type Drafts<'n> = Vec<(Ino, MutexGuard<'n, Option<Draft>>)>;

/// A directory that is renamed.
#[derive(Debug)]
pub(super) struct Tree {
    id: String,
    pub(super) from: Directory,
    pub(super) to: Directory,
    /// Whether there was an empty directory at the new name.
    pub(super) replaces: bool,
    pub(super) progress: Arc<Progress>,
    /// The tags of copies of objects that the kernel refers to.
    copies: Mutex<HashMap<Ino, Arc<str>>>,
}

impl Tree {
    pub(super) fn new(id: String, record: &Record) -> Self {
        Self {
            id,
            from: Directory::new(&record.from),
            to: Directory::new(&record.to),
            replaces: record.replaces,
            progress: Arc::new(Progress::new(&record.from, &record.to)),
            copies: Mutex::default(),
        }
    }

    /// The new key of what has this one.
    pub(super) fn moved(&self, key: &str) -> String {
        format!("{}{}", self.to.prefix(), key.strip_prefix(self.from.prefix()).unwrap_or(key))
    }

    /// What a copy of this content of an object is known by.
    pub(super) fn mark(&self, key: &str, etag: &str) -> String {
        let mut hash = Sha256::new();
        hash.update((key.len() as u64).to_le_bytes());
        hash.update(key.as_bytes());
        hash.update(etag.as_bytes());
        format!("{}{}", self.id, hex(hash.finalize().iter().take(16)))
    }

    /// Whether a copy with this mark was made by this rename.
    pub(super) fn made(&self, mark: &str) -> bool {
        mark.starts_with(&self.id)
    }

    /// The object of an inode was copied.
    pub(super) fn copied(&self, node: &Node, etag: String) {
        self.copies.lock().insert(node.ino, etag.into());
    }

    fn old(&self) -> Hidden {
        Hidden::Directory(self.from.prefix().into())
    }

    fn new_name(&self) -> Hidden {
        Hidden::Directory(self.to.prefix().into())
    }
}

impl Bucket {
    /// Gives a directory, with all that is in it, another name. Open files follow.
    pub(super) async fn rename_directory(
        &self,
        working: &Working<'_>,
        from: &Directory,
        to: &Directory,
        replaces: bool,
    ) -> Result<()> {
        self.marker_alone(to).await?;
        self.check_removable(from).await?;
        let nodes = self.below(from);
        let mut drafts = self.stored(&nodes).await?;
        if first_below(&self.s3, from.prefix()).await.map_err(told)?.is_none() {
            self.changed(from.prefix());
            return Err(Error::NotFound);
        }
        let record = Record::new(from.prefix(), to.prefix(), replaces);
        let journal = Journal::begin(&self.s3, self.root().prefix(), new_id(), record).await.map_err(told)?;
        self.hide_for(&journal.record);
        self.carry_on(working, journal, &mut drafts).await
    }

    /// Shows each name below a directory that is being renamed once: the old one, or, when all is copied, the new one.
    pub(super) fn hide_for(&self, record: &Record) {
        self.moves
            .hide(Hidden::Directory(if record.phase == Phase::Copied { &*record.from } else { &*record.to }.into()));
    }

    /// Goes on with a rename from where its journal says it is.
    pub(super) async fn carry_on(
        &self,
        working: &Working<'_>,
        mut journal: Journal,
        drafts: &mut Drafts<'_>,
    ) -> Result<()> {
        let tree = Tree::new(journal.id.clone(), &journal.record);
        self.moves.watch(&tree.progress);
        let (from, to) = (tree.from.prefix(), tree.to.prefix());
        tracing::info!(from, to, phase = ?journal.record.phase, "renaming a directory");
        let done = match self.phases(working, &tree, &mut journal, drafts).await {
            Ok(refused) => journal.end().await.map(|()| refused).map_err(Trouble::of_journal),
            Err(trouble) => Err(trouble),
        };
        // Who looks just now may have heard of what is gone by now: it is shown again when they are done.
        working.switch().await;
        // Otherwise whoever mounts this next goes on with it, and until then it is shown as it is now.
        if matches!(done, Ok(_) | Err(Trouble::TakenOver)) {
            [tree.old(), tree.new_name()].iter().for_each(|hidden| self.moves.show(hidden));
        }
        self.forget_below(&tree);
        working.switched();
        let (copied, removed) = tree.progress.counts();
        match done {
            Ok(refused) => {
                tracing::info!(from, to, copied, removed, "renaming a directory is over");
                refused.map_or(Ok(()), Err)
            }
            Err(trouble) => {
                tracing::error!(error = %trouble, from, to, copied, removed, "renaming a directory was not finished: the next mount goes on");
                Err(trouble.told())
            }
        }
    }

    /// What is left to be done; says why an object could not be removed.
    async fn phases(
        &self,
        working: &Working<'_>,
        tree: &Tree,
        journal: &mut Journal,
        drafts: &mut Drafts<'_>,
    ) -> Passed<Option<Error>> {
        if journal.record.phase == Phase::Copying {
            if let Err(trouble) = self.beating(journal, self.copy_all(tree)).await {
                return self.fail(tree, journal, trouble).await.map(Some);
            }
            journal.enter(Phase::Copied).await.map_err(Trouble::of_journal)?;
            self.switch(working, tree, drafts).await;
        }
        match journal.record.phase {
            Phase::Undoing => self.undo(tree, journal).await.map(|()| None),
            Phase::Copying | Phase::Copied => self.beating(journal, self.remove_all(tree)).await,
        }
    }

    /// Has everything be as it was before; says why.
    async fn fail(&self, tree: &Tree, journal: &mut Journal, trouble: Trouble) -> Passed<Error> {
        if matches!(trouble, Trouble::TakenOver) {
            return Err(trouble);
        }
        tracing::error!(error = %trouble, from = tree.from.prefix(), to = tree.to.prefix(), "a directory can't be renamed");
        journal.enter(Phase::Undoing).await.map_err(Trouble::of_journal)?;
        self.undo(tree, journal).await.map(|()| trouble.told())
    }

    async fn undo(&self, tree: &Tree, journal: &mut Journal) -> Passed<()> {
        self.beating(journal, self.remove_copies(tree)).await
    }

    /// Does `work`, and says in the journal that somebody is at it.
    async fn beating<T>(&self, journal: &mut Journal, work: impl Future<Output = Passed<T>>) -> Passed<T> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(self.rename_lease / 4) => journal.beat().await.map_err(Trouble::of_journal)?,
            }
        }
    }

    /// Has the old name go and the new one come: inodes are of the new keys from now on.
    async fn switch(&self, working: &Working<'_>, tree: &Tree, drafts: &mut Drafts<'_>) {
        working.switch().await;
        let known = std::mem::take(&mut *tree.copies.lock());
        let moves = self.below(&tree.from).into_iter().map(async |node| {
            let target = self.moved_target(tree, &node, known.get(&node.ino)).await;
            (node, target)
        });
        let moves: Vec<_> = stream::iter(moves).buffer_unordered(HEADS_AT_ONCE).collect().await;
        if let Some(replaced) = self.inodes.find(&Target::Directory(tree.to.clone())) {
            replaced.went_stale();
        }
        for (node, target) in moves {
            let Some(target) = target else {
                node.went_stale();
                continue;
            };
            if let Target::Object(version) = &target
                && let Some((_, draft)) = drafts.iter_mut().find(|(ino, _)| *ino == node.ino)
                && let Some(draft) = draft.as_mut()
            {
                draft.moved(version);
            }
            node.listing.forget();
            self.inodes.became(&node, target);
        }
        drafts.clear();
        self.moves.show(&tree.new_name());
        self.moves.hide(tree.old());
        self.forget_below(tree);
        working.switched();
    }

    /// What an inode is of after the rename. `None`: there is no such object.
    async fn moved_target(&self, tree: &Tree, node: &Node, etag: Option<&Arc<str>>) -> Option<Target> {
        let version = match node.target() {
            Target::Directory(directory) => return directory.moved(&tree.from, &tree.to).map(Target::Directory),
            Target::Object(version) => version,
        };
        let key: Arc<str> = tree.moved(&version.key).into();
        let etag = match etag {
            Some(etag) => Arc::clone(etag),
            // It was not referred to when it was copied. Only a copy of just this content is this file.
            None => {
                let mark = tree.mark(&version.key, version.etag.as_deref()?);
                let (info, found) = self.s3.head_marked(&key).await.ok()?;
                info.etag.filter(|_| found == Some(mark))?.into()
            }
        };
        Some(Target::Object(Version { key, etag: Some(etag), size: version.size, draft: 0 }))
    }

    /// The inodes of a directory, and of what is below it, that the kernel refers to.
    pub(super) fn below(&self, directory: &Directory) -> Vec<Arc<Node>> {
        let prefix = directory.prefix();
        self.inodes.all().into_iter().filter(|node| node.target().key().starts_with(prefix)).collect()
    }

    /// Stores what is being written to these files, and keeps anybody from going on with it.
    async fn stored<'n>(&self, nodes: &'n [Arc<Node>]) -> Result<Drafts<'n>> {
        let mut stored = Vec::new();
        for node in nodes {
            stored.extend(self.stored_one(node).await?);
        }
        Ok(stored)
    }

    /// As [`Bucket::stored`], for a rename that goes on whatever becomes of what was written meanwhile: who wrote it is told.
    pub(super) async fn stored_if_possible<'n>(&self, nodes: &'n [Arc<Node>]) -> Drafts<'n> {
        let mut stored = Vec::new();
        for node in nodes {
            stored.extend(self.stored_one(node).await.ok().flatten());
        }
        stored
    }

    /// As [`Bucket::stored`], for one file; `None` if nobody writes to it.
    async fn stored_one<'n>(&self, node: &'n Node) -> Result<Option<(Ino, MutexGuard<'n, Option<Draft>>)>> {
        let mut draft = node.draft.lock().await;
        let Some(writing) = draft.as_mut().filter(|_| !node.is_stale()) else { return Ok(None) };
        self.publish_or_lose(node, writing).await?;
        Ok(Some((node.ino, draft)))
    }

    /// Finds out whether objects of a directory may be removed, before anything is copied: tries it with one that is not there.
    async fn check_removable(&self, directory: &Directory) -> Result<()> {
        let key = format!("{}{}{}", directory.prefix(), super::journal::NAME, new_id());
        match self.s3.delete(&key, Some("\"none\""), None).await {
            Err(error @ ObjectsError::Denied { .. }) => Err(told(error)),
            _ => Ok(()),
        }
    }

    /// Forgets what was heard of the two names.
    fn forget_below(&self, tree: &Tree) {
        for directory in [&tree.from, &tree.to] {
            self.changed(directory.prefix());
            self.below(directory).iter().for_each(|node| node.listing.outdate());
        }
        self.recent.forget_below(&[tree.from.prefix(), tree.to.prefix()]);
    }
}

impl Progress {
    fn counts(&self) -> (u64, u64) {
        let of = |count: &std::sync::atomic::AtomicU64| count.load(std::sync::atomic::Ordering::Relaxed);
        (of(&self.copied), of(&self.removed))
    }
}
