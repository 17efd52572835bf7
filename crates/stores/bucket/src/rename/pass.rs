//! Passes over the keys below a directory that is renamed: one that copies them, one that removes them.
//!
//! Of the keys, a page at a time is in memory. A copy carries a mark of the rename, the key and the content that it was made of, so
//! whoever goes on with a rename that was interrupted knows which copies are there, and which objects at the new names are of
//! somebody else.

use super::copy::Copy;
use super::directory::Tree;
use crate::bucket::Bucket;
use crate::inodes::Node;
use futures::{StreamExt, stream};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use stoa_objects::s3::limits::KEY_BYTES_MAX;
use stoa_objects::s3::{Condition, List, Listed, ObjectInfo, Source};
use stoa_objects::{Error as ObjectsError, Result as ObjectsResult};
use stoa_vfs::Error;

/// So many objects are copied, or removed, at once.
const AT_ONCE: usize = 32;

/// How often an object is copied again that others keep writing.
const TRIES_MAX: u32 = 5;

/// What becomes of a pass, or of one object in it.
pub(super) type Passed<T> = std::result::Result<T, Trouble>;

/// Why a directory can't be renamed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("somebody else has put an object at {0:?} meanwhile")]
    Taken(String),
    #[error("{0:?} is longer than a key can be")]
    TooLong(String),
    #[error("the server gives no ETag of {0:?}, by which it would be known again")]
    Untagged(String),
    #[error("another mount has taken the rename over")]
    TakenOver,
    #[error(transparent)]
    Store(#[from] ObjectsError),
}

impl Trouble {
    /// Why a journal can't be written.
    pub(super) fn of_journal(error: ObjectsError) -> Self {
        match error {
            ObjectsError::Conflict { .. } => Self::TakenOver,
            error => Self::Store(error),
        }
    }

    /// What the program is told.
    pub(super) fn told(self) -> Error {
        match self {
            Self::Taken(_) => Error::NotEmpty,
            Self::TooLong(_) => Error::NameTooLong,
            Self::Untagged(_) => Error::Unsupported("renaming an object that the server gives no ETag of"),
            Self::TakenOver => Error::Io(self.to_string()),
            Self::Store(error) => super::told_of_copy(error),
        }
    }
}

/// What is at the new key of an object.
enum There {
    Nothing,
    /// A copy of what the object is now.
    Copy,
    /// What may be replaced, with its tag: a copy of what it was before, or the marker of a directory that is replaced.
    Old(String),
    Other,
}

impl Bucket {
    /// Copies every object below a directory.
    pub(super) async fn copy_all(&self, tree: &Tree) -> Passed<()> {
        let mut pages = Pages::new(tree);
        while let Some(page) = pages.next(self).await? {
            let copies = page.into_iter().map(async |(source, target)| {
                let copied = self.copy_one(tree, &source, target.as_ref()).await?;
                if copied.is_some() {
                    tree.progress.copied.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            });
            let mut copies = stream::iter(copies).buffer_unordered(AT_ONCE);
            // One that arrives after the end would stay: those under way are waited for.
            let mut failed = None;
            while let Some(copied) = copies.next().await {
                if let Err(trouble) = copied {
                    failed.get_or_insert(trouble);
                }
            }
            if let Some(trouble) = failed {
                return Err(trouble);
            }
        }
        Ok(())
    }

    /// Removes every object below a directory that has been copied as it is. One that has changed since is copied again first. What
    /// can't be removed stays, and the first reason is returned.
    pub(super) async fn remove_all(&self, tree: &Tree) -> Passed<Option<Error>> {
        let (mut pages, mut first) = (Pages::new(tree), None);
        while let Some(page) = pages.next(self).await? {
            let removals = page.into_iter().map(async |(source, target)| {
                let removed = self.remove_one(tree, &source, target.as_ref()).await;
                (source.key, removed)
            });
            let mut removals = stream::iter(removals).buffer_unordered(AT_ONCE);
            while let Some((key, removed)) = removals.next().await {
                match removed {
                    Ok(()) => drop(tree.progress.removed.fetch_add(1, Ordering::Relaxed)),
                    Err(trouble) => {
                        tracing::error!(error = %trouble, key, "an object stays under its old name after its directory was renamed");
                        first.get_or_insert_with(|| trouble.told());
                    }
                }
            }
        }
        Ok(first)
    }

    /// Removes the copies that were made.
    pub(super) async fn remove_copies(&self, tree: &Tree) -> Passed<()> {
        let mut list = List { prefix: tree.to.prefix().to_owned(), ..List::default() };
        loop {
            let page = self.s3.list(&list).await?;
            let kept = |key: &str| tree.replaces && key == tree.to.prefix();
            let removals = page.objects.into_iter().filter(|object| !kept(&object.key)).map(async |object| {
                match self.s3.head_marked(&object.key).await {
                    Ok((info, Some(mark))) if tree.made(&mark) => {
                        match self.s3.delete(&object.key, info.etag.as_deref(), None).await {
                            // Somebody else has written there since.
                            Err(ObjectsError::Conflict { .. } | ObjectsError::NotFound { .. }) => Ok(()),
                            removed => removed,
                        }
                    }
                    Ok(_) | Err(ObjectsError::NotFound { .. }) => Ok(()),
                    Err(error) => Err(error),
                }
            });
            let removed: Vec<ObjectsResult<()>> = stream::iter(removals).buffer_unordered(AT_ONCE).collect().await;
            removed.into_iter().collect::<ObjectsResult<()>>()?;
            match page.next {
                Some(next) => list.continuation = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Sees to it that the object of `source` has a copy of what it is now; says of what. `None`: it is gone.
    async fn copy_one(&self, tree: &Tree, source: &Listed, target: Option<&Listed>) -> Passed<Option<ObjectInfo>> {
        let key = tree.moved(&source.key);
        if key.len() > KEY_BYTES_MAX {
            return Err(Trouble::TooLong(key));
        }
        let mut is_there = target.is_some();
        for _ in 0..TRIES_MAX {
            let info = match self.s3.head(&source.key, None).await {
                Err(ObjectsError::NotFound { .. }) => return Ok(None),
                info => info?,
            };
            let etag = info.etag.clone().ok_or_else(|| Trouble::Untagged(source.key.clone()))?;
            let mark = tree.mark(&source.key, &etag);
            let there = if is_there { self.there(tree, &key, &mark).await? } else { There::Nothing };
            let condition = match there {
                There::Copy => return Ok(Some(info)),
                There::Nothing => Condition::IfAbsent,
                There::Old(etag) => Condition::IfMatch(etag),
                There::Other => return Err(Trouble::Taken(key)),
            };
            let node = self.inodes.find_object(&source.key, &etag, info.size);
            let copy = Copy {
                source: Source { key: source.key.clone(), version: None, if_match: Some(etag) },
                size: info.size,
                headers: self.with_time_of(node.as_deref(), &info),
                key: &key,
                condition,
                mark: &mark,
            };
            match self.copy_object(&copy).await {
                Ok(written) => {
                    if let Some(node) = node {
                        tree.copied(&node, written.etag);
                    }
                    return Ok(Some(info));
                }
                // One of both has changed.
                Err(ObjectsError::Conflict { .. } | ObjectsError::NotFound { .. }) => is_there = true,
                Err(error) => return Err(error.into()),
            }
        }
        let op = format!("copying {:?}", source.key);
        Err(ObjectsError::Conflict { op, detail: "others keep writing it".to_owned() }.into())
    }

    async fn there(&self, tree: &Tree, key: &str, mark: &str) -> Passed<There> {
        Ok(match self.s3.head_marked(key).await {
            Err(ObjectsError::NotFound { .. }) => There::Nothing,
            Err(error) => return Err(error.into()),
            Ok((_, Some(found))) if found == mark => There::Copy,
            Ok((info, found)) => {
                let ours = found.is_some_and(|found| tree.made(&found));
                let replaced = tree.replaces && key == tree.to.prefix() && info.size == 0;
                info.etag.filter(|_| ours || replaced).map_or(There::Other, There::Old)
            }
        })
    }

    async fn remove_one(&self, tree: &Tree, source: &Listed, target: Option<&Listed>) -> Passed<()> {
        // The same tag is the same content, and tells so without a request.
        let same = source.etag.is_some() && target.is_some_and(|target| target.etag == source.etag);
        let mut etag = source.etag.clone().filter(|_| same);
        for _ in 0..TRIES_MAX {
            let known = match etag.take() {
                Some(etag) => etag,
                None => match self.copy_one(tree, source, Some(source)).await? {
                    Some(info) => info.etag.unwrap_or_default(),
                    None => return Ok(()),
                },
            };
            match self.s3.delete(&source.key, Some(&known), None).await {
                Ok(()) | Err(ObjectsError::NotFound { .. }) => return Ok(()),
                // It has changed since it was copied.
                Err(ObjectsError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let op = format!("removing {:?}", source.key);
        Err(ObjectsError::Conflict { op, detail: "others keep writing it".to_owned() }.into())
    }

    /// What the copy of an object carries.
    fn with_time_of(&self, node: Option<&Node>, info: &ObjectInfo) -> stoa_objects::s3::Headers {
        let mtime = match node {
            Some(node) => Some(node.attr().mtime),
            None => info.modified.map(Into::into),
        };
        self.with_time(mtime, info.headers.clone())
    }
}

/// The objects below a directory, a page at a time, each with what is listed at its new key.
struct Pages<'t> {
    tree: &'t Tree,
    after: Option<String>,
    ended: bool,
}

impl<'t> Pages<'t> {
    fn new(tree: &'t Tree) -> Self {
        Self { tree, after: None, ended: false }
    }

    async fn next(&mut self, bucket: &Bucket) -> ObjectsResult<Option<Vec<(Listed, Option<Listed>)>>> {
        let mut list = List {
            prefix: self.tree.from.prefix().to_owned(),
            start_after: self.after.clone(),
            keys_max: bucket.page_keys_max,
            ..List::default()
        };
        while !self.ended {
            let page = bucket.s3.list(&list).await?;
            self.ended = page.next.is_none();
            let Some(last) = page.objects.last().map(|last| last.key.clone()) else {
                list.continuation = page.next;
                continue;
            };
            let mut targets = self.targets(bucket, &last).await?;
            let paired = page.objects.into_iter().map(|source| {
                let target = targets.remove(self.tree.moved(&source.key).as_str());
                (source, target)
            });
            let page = paired.collect();
            self.after = Some(last);
            return Ok(Some(page));
        }
        Ok(None)
    }

    /// What is listed at the new keys of a page that ends with `last`.
    async fn targets(&self, bucket: &Bucket, last: &str) -> ObjectsResult<HashMap<String, Listed>> {
        let last = self.tree.moved(last);
        let mut list = List {
            prefix: self.tree.to.prefix().to_owned(),
            start_after: self.after.as_deref().map(|after| self.tree.moved(after)),
            keys_max: bucket.page_keys_max,
            ..List::default()
        };
        let mut targets = HashMap::new();
        loop {
            let page = bucket.s3.list(&list).await?;
            let beyond = page.objects.last().is_some_and(|object| object.key > last);
            let within = page.objects.into_iter().filter(|object| object.key <= last);
            targets.extend(within.map(|object| (object.key.clone(), object)));
            match page.next {
                Some(next) if !beyond => list.continuation = Some(next),
                _ => return Ok(targets),
            }
        }
    }
}
