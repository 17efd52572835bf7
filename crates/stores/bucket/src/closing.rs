//! The end of a mount: what was written gets into the store.

use crate::bucket::Bucket;
use crate::draft::{Draft, Ended};
use crate::inodes::Node;
use std::fmt;
use stoa_vfs::Result;

/// A file that was still being written when the mount ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Its key.
    pub key: String,
    /// The key under which what was written is kept, if that is another.
    pub beside: Option<String>,
    /// Whether nothing was written but that it was emptied, which was not stored.
    pub emptied: bool,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.beside {
            Some(beside) => write!(f, "{:?} is as it was before, and what was written is in {beside:?}", self.key),
            None if self.emptied => {
                write!(f, "{:?} is as it was before, and not empty: nothing else was written", self.key)
            }
            None => write!(f, "{:?} has what was written so far", self.key),
        }
    }
}

impl Bucket {
    /// Puts into the store what nobody is in the middle of writing.
    ///
    /// # Errors
    /// The first reason why a file is not in the store; all others were tried.
    pub async fn settle(&self) -> Result<()> {
        self.publish_all(|draft| !draft.is_being_written()).await
    }

    /// Puts all files into the store whose drafts are `wanted` there.
    ///
    /// # Errors
    /// As [`Bucket::settle`].
    pub(crate) async fn publish_all(&self, wanted: fn(&Draft) -> bool) -> Result<()> {
        let mut first = Ok(());
        for node in self.inodes.all() {
            let published = match node.draft.lock().await.as_mut() {
                Some(draft) if wanted(draft) => self.publish_or_lose(&node, draft).await,
                _ => Ok(()),
            };
            // One that can't be stored keeps no other from it.
            first = first.and(published);
        }
        first
    }

    /// Puts into the store what is not there yet, when no request comes any more. What was in the middle of being written never takes the
    /// place of an object that may be whole. Returns those files.
    ///
    /// # Errors
    /// As [`Bucket::settle`].
    pub async fn close(&self) -> Result<Vec<Unfinished>> {
        let mut first = self.settle().await;
        let mut unfinished = Vec::new();
        for node in self.inodes.all() {
            match self.end_file(&node).await {
                Ok(ended) => unfinished.extend(ended),
                Err(error) => first = first.and(Err(error)),
            }
        }
        first.map(|()| unfinished)
    }

    async fn end_file(&self, node: &Node) -> Result<Option<Unfinished>> {
        let mut draft = node.draft.lock().await;
        let Some(writing) = draft.as_mut().filter(|draft| draft.is_being_written()) else { return Ok(None) };
        let key = writing.key().to_owned();
        let ended = writing.end(&self.sink()).await.inspect_err(|error| {
            tracing::error!(%error, key, "what was being written when the mount ended is not kept as it is to be");
        });
        let (beside, emptied) = match ended? {
            Ended::Nothing => return Ok(None),
            Ended::Emptied => (None, true),
            Ended::Stored => (None, false),
            Ended::Beside(beside) => (Some(beside.to_string()), false),
        };
        let unfinished = Unfinished { key, beside, emptied };
        tracing::warn!("a file was still being written: {unfinished}");
        Ok(Some(unfinished))
    }
}
