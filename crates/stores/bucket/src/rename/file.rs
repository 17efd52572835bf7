//! One object gets another key.

use super::copy::Copy;
use super::{new_id, told_of_copy};
use crate::bucket::Bucket;
use crate::draft::Draft;
use crate::error::told;
use crate::found::{Found, Target, Version};
use crate::inodes::Node;
use crate::metadata;
use crate::moves::{Hidden, Working};
use crate::source::has;
use std::sync::Arc;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Condition, Headers, ObjectInfo, Source};
use stoa_vfs::{Error, Result, SetAttr, SetTime, Timestamp};

impl Bucket {
    /// Gives an object another key, in place of the one that has it. Open files follow.
    pub(super) async fn rename_file(
        &self,
        working: &Working<'_>,
        found: &Found,
        key: Arc<str>,
        replaced: Option<Version>,
    ) -> Result<()> {
        let entry = self.inodes.refer(found).ok_or(Error::Stale)?;
        // Looked for now: a copy of the same content looks like what it replaced.
        let gone = replaced.clone().and_then(|gone| self.inodes.find(&Target::Object(gone)));
        let moved = match self.inodes.get(entry.attr.ino) {
            Ok(node) => self.move_node(working, &node, &key, replaced.as_ref()).await,
            Err(error) => Err(error),
        };
        self.inodes.forget(entry.attr.ino, 1);
        moved?;
        if let Some(gone) = gone {
            let mut draft = gone.draft.lock().await;
            self.has_no_name(&gone, &key, draft.as_mut()).await;
        }
        Ok(())
    }

    async fn move_node(
        &self,
        working: &Working<'_>,
        node: &Node,
        key: &Arc<str>,
        replaced: Option<&Version>,
    ) -> Result<()> {
        let mut draft = node.draft.lock().await;
        let version = node.version()?;
        if let Some(writing) = draft.as_mut() {
            if version.draft > 0 && replaced.is_none() && writing.renamed(key) {
                self.move_draft(node, version, key);
                return Ok(());
            }
            // What was written so far gets there before the name it replaces is lost.
            self.publish_or_lose(node, writing).await?;
        }
        self.move_stored(working, node, draft.as_mut(), key, replaced).await
    }

    /// A file that is not in the store yet will get there under another key.
    fn move_draft(&self, node: &Node, version: Version, key: &Arc<str>) {
        let old = Arc::clone(&version.key);
        {
            let mut drafts = self.drafts.lock();
            let moved = drafts.remove(&old);
            // With the reference that was kept for it.
            let before = moved.and_then(|moved| drafts.insert(Arc::clone(key), moved));
            if let Some(stale) = before {
                self.inodes.forget(stale.ino, 1);
            }
        }
        self.inodes.became(node, Target::Object(Version { key: Arc::clone(key), ..version }));
        self.changed(&old);
        self.changed(key);
    }

    async fn move_stored(
        &self,
        working: &Working<'_>,
        node: &Node,
        mut draft: Option<&mut Draft>,
        key: &Arc<str>,
        replaced: Option<&Version>,
    ) -> Result<()> {
        let old = node.version()?;
        let Some(etag) = old.etag.as_deref() else {
            return Err(Error::Unsupported("renaming an object that the server gives no ETag of"));
        };
        let info = self.still(node, &old).await?;
        let condition = self.condition(key, replaced).await?;
        let copy = Copy {
            source: Source { key: old.key.to_string(), version: None, if_match: Some(etag.to_owned()) },
            size: info.size,
            headers: self.with_time(Some(node.attr().mtime), info.headers),
            key,
            condition,
            mark: &new_id(),
        };
        let written = self.copy_object(&copy).await;
        // What is believed of either name may be wrong.
        let forget = || [&old.key, key].into_iter().for_each(|key| self.changed(key));
        let written = written.inspect_err(|_| forget()).map_err(told_of_copy)?;
        let new = Version { key: Arc::clone(key), etag: Some(written.etag.into()), ..old.clone() };
        let becomes = |version: &Version, draft: Option<&mut Draft>| {
            self.inodes.became(node, Target::Object(version.clone()));
            if let Some(draft) = draft {
                draft.moved(version);
            }
            forget();
        };
        let gone = Hidden::Object(Arc::clone(&old.key));
        working.switch().await;
        becomes(&new, draft.as_deref_mut());
        self.moves.hide(gone.clone());
        if !self.finder.asks_objects() {
            node.changed(&SetAttr { mtime: Some(SetTime::Now), ..SetAttr::default() });
        }
        working.switched();
        let removed = self.remove_moved(&old, etag).await;
        // Who looks just now may have heard of what is gone by now.
        working.switch().await;
        self.moves.show(&gone);
        forget();
        working.switched();
        let Err(error) = removed else { return Ok(()) };
        match has(&self.s3, &old.key, None, etag).await {
            // It was removed all the same, and only the answer was lost: the copy is all that there is.
            Ok(false) => return Ok(()),
            Ok(true) if replaced.is_none() && self.s3.delete(key, new.etag.as_deref(), None).await.is_ok() => {
                becomes(&old, draft);
            }
            _ => {
                tracing::error!(%error, from = %old.key, to = %key, "an object was copied and could not be removed: both are there");
                forget();
            }
        }
        Err(told(error))
    }

    /// What the store says of an object that is about to be moved: it must be what was last seen.
    async fn still(&self, node: &Node, version: &Version) -> Result<ObjectInfo> {
        match self.s3.head(&version.key, None).await {
            Ok(info) if info.etag == version.etag.as_deref().map(str::to_owned) => Ok(info),
            Ok(_) | Err(ObjectsError::NotFound { .. }) => {
                node.went_stale();
                self.changed(&version.key);
                Err(Error::Stale)
            }
            Err(error) => Err(told(error)),
        }
    }

    /// What must hold at `key` so that the object may be put there. It is looked at now, too: a server may ignore conditions of copies.
    async fn condition(&self, key: &str, replaced: Option<&Version>) -> Result<Condition> {
        let wanted = match replaced {
            Some(version) if version.draft == 0 => {
                let etag = version.etag.as_deref();
                Some(etag.ok_or(Error::Unsupported("replacing an object that the server gives no ETag of"))?)
            }
            _ => None,
        };
        let there = match self.s3.head(key, None).await {
            Ok(info) => info.etag.or(Some(String::new())),
            Err(ObjectsError::NotFound { .. }) => None,
            Err(error) => return Err(told(error)),
        };
        if there.as_deref() != wanted {
            self.changed(key);
            return Err(Error::Stale);
        }
        Ok(wanted.map_or(Condition::IfAbsent, |etag| Condition::IfMatch(etag.to_owned())))
    }

    /// `headers` with the time of the content, which that of the copy is not; where objects are asked for their attributes.
    pub(super) fn with_time(&self, mtime: Option<Timestamp>, mut headers: Headers) -> Headers {
        if let Some(mtime) = mtime.filter(|_| self.finder.asks_objects() && !headers.metadata.contains_key("mtime")) {
            let set = SetAttr { mtime: Some(SetTime::At(Timestamp { nanos: 0, ..mtime })), ..SetAttr::default() };
            metadata::write(&set, &mut headers.metadata);
        }
        headers
    }

    /// Removes what was copied, if it still is that. What somebody else has written there since is a file of theirs.
    async fn remove_moved(&self, old: &Version, etag: &str) -> stoa_objects::Result<()> {
        match self.s3.delete(&old.key, Some(etag), None).await {
            Err(ObjectsError::Conflict { .. } | ObjectsError::NotFound { .. }) => {
                tracing::warn!(key = %old.key, "it was written by somebody else after it was renamed here: theirs stays");
                Ok(())
            }
            removed => removed,
        }
    }
}
