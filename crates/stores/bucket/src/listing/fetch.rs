//! Getting pages from the store.

use super::mark::Mark;
use super::merge::{Item, is_marker, merge};
use super::{Page, Scan};
use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::error::told;
use crate::found::Found;
use crate::moves::shows;
use crate::rename::is_journal;
use crate::view::View;
use futures::{StreamExt, TryStreamExt, stream};
use std::sync::Arc;
use std::time::Duration;
use stoa_objects::s3::{List, Listed, Page as KeyPage};
use stoa_objects::{Error as ObjectsError, Result as ObjectsResult};
use stoa_vfs::{Error, Name, Result};

/// Sorts after every character that keys are made of.
const LAST_CHARACTER: char = char::MAX;

/// How many objects of a page are asked for what they say of themselves at once.
const HEADS_MAX: usize = 64;

impl Bucket {
    /// A page of a directory; with `age_max`, not older than that. Pages come one after the other: that before must have been got.
    ///
    /// # Errors
    /// Any failure of the store: what is not known is never an empty page.
    pub(crate) async fn page(
        &self,
        directory: &Directory,
        scan: &Scan,
        number: u32,
        age_max: Option<Duration>,
    ) -> Result<Arc<Page>> {
        let key = (scan.id, number);
        if let Some(page) = self.pages.get(key, age_max) {
            return Ok(page);
        }
        let _fetching = scan.fetching.lock().await;
        // Whoever had the lock before may have fetched it.
        if let Some(page) = self.pages.get(key, age_max) {
            return Ok(page);
        }
        let (mark, next) =
            scan.marks.lock().of(number).ok_or(Error::Invalid("a place in the directory that nobody was at"))?;
        let until = next.as_ref().map(|next| next.after.as_str());
        let (keys, last) = self.keys(directory, &mark, until).await.map_err(told)?;
        let marked = keys.objects.iter().any(|object| is_marker(directory, object));
        let merged = merge(directory, &mark, keys, last);
        let (items, reached) = merged.map_err(|key| unordered(directory, &key))?;
        let page = Arc::new(Page::new(self.found(items).await?, last).marked(marked));
        if next.is_none() {
            scan.marks.lock().reached((!last).then_some(reached));
        }
        self.pages.keep(key, &page);
        Ok(page)
    }

    /// The keys of a page that begins at `mark`: up to `until` if that is given, otherwise as many as the server gives at once. Says
    /// whether no key comes after them.
    async fn keys(&self, directory: &Directory, mark: &Mark, until: Option<&str>) -> ObjectsResult<(KeyPage, bool)> {
        let mut list = List {
            prefix: directory.prefix().to_owned(),
            delimiter: Some("/".to_owned()),
            start_after: start_after(directory, &mark.after),
            keys_max: self.page_keys_max,
            ..List::default()
        };
        let mut all = KeyPage::default();
        loop {
            let page = self.s3.list(&list).await?;
            let wanted = |key: &str| key > mark.after.as_str() && until.is_none_or(|until| key <= until);
            let beyond = |key: &str| until.is_some_and(|until| key >= until);
            let is_beyond = page.objects.iter().any(|object| beyond(&object.key))
                || page.prefixes.iter().any(|prefix| beyond(prefix));
            all.objects.extend(page.objects.into_iter().filter(|object| wanted(&object.key)));
            all.prefixes.extend(page.prefixes.into_iter().filter(|prefix| wanted(prefix)));
            let some = !all.objects.is_empty() || !all.prefixes.is_empty();
            match page.next {
                None => return Ok((all, until.is_none())),
                Some(_) if is_beyond || (until.is_none() && some) => return Ok((all, false)),
                Some(next) => list.continuation = Some(next),
            }
        }
    }

    /// What the names of a page stand for; objects that are gone meanwhile are left out, and those that are no files here.
    async fn found(&self, items: Vec<(Name, Item)>) -> Result<Vec<(Name, Found)>> {
        let is_file = |item: &Item| !matches!(item, Item::Object(listed) if is_journal(&listed.key));
        let items: Vec<_> = items.into_iter().filter(|(_, item)| is_file(item)).collect();
        let mut found = self.found_of(items).await?;
        let hidden = self.moves.hidden();
        found.retain(|(_, found)| shows(&hidden, &found.target));
        Ok(found)
    }

    async fn found_of(&self, items: Vec<(Name, Item)>) -> Result<Vec<(Name, Found)>> {
        if !self.finder.asks_objects() {
            let listed = |(name, item)| match item {
                Item::Directory(directory) => (name, self.finder.directory(directory, None)),
                Item::Object(listed) => (name, self.finder.listed(listed)),
            };
            return Ok(items.into_iter().map(listed).collect());
        }
        let asked = items.into_iter().map(async |(name, item)| {
            let found = match item {
                Item::Directory(directory) => Some(self.ask_marker(directory).await?),
                Item::Object(listed) => self.ask_object(listed).await?,
            };
            Ok::<_, Error>(found.map(|found| (name, found)))
        });
        stream::iter(asked).buffered(HEADS_MAX).try_filter_map(async |found| Ok(found)).try_collect().await
    }

    /// A directory as its marker describes it, if it has one and that may be asked.
    pub(crate) async fn ask_marker(&self, directory: Directory) -> Result<Found> {
        let has_marker = !directory.is_continued() && !directory.prefix().is_empty();
        let marker = match has_marker.then(|| self.s3.head(directory.prefix(), None)) {
            Some(asked) => match asked.await {
                Ok(info) => Some(info),
                Err(ObjectsError::NotFound { .. } | ObjectsError::Denied { .. } | ObjectsError::Rejected { .. }) => {
                    None
                }
                Err(error) => return Err(told(error)),
            },
            None => None,
        };
        Ok(self.finder.directory(directory, marker.as_ref()))
    }

    /// An object as it describes itself; as it is listed, if it may not be asked.
    pub(crate) async fn ask_object(&self, listed: Listed) -> Result<Option<Found>> {
        match self.s3.head(&listed.key, None).await {
            Ok(info) => Ok(Some(self.finder.asked(&listed.key, &info))),
            Err(ObjectsError::NotFound { .. }) => Ok(None),
            // Rights differ from key to key; and one that is encrypted with its owner's key tells nothing to others.
            Err(ObjectsError::Denied { .. } | ObjectsError::Rejected { .. }) => Ok(Some(self.finder.listed(listed))),
            Err(error) => Err(told(error)),
        }
    }
}

fn unordered(directory: &Directory, key: &str) -> Error {
    Error::Io(format!(
        "listing {:?}: the key {key:?} comes out of order; a server that lists like that can't be mounted",
        directory.prefix()
    ))
}

/// Where to go on after a key, or after all keys that begin with a prefix: a server may well begin with that prefix again when
/// asked for what comes after the prefix itself, as there are keys that do.
fn start_after(directory: &Directory, after: &str) -> Option<String> {
    let is_prefix = after.ends_with('/') && after != directory.prefix();
    match after {
        "" => None,
        prefix if is_prefix => Some(format!("{prefix}{LAST_CHARACTER}")),
        key => Some(key.to_owned()),
    }
}

/// The first object whose key begins with `prefix`.
pub(crate) async fn first_below(s3: &View, prefix: &str) -> ObjectsResult<Option<Listed>> {
    let mut list = List { prefix: prefix.to_owned(), keys_max: Some(1), ..List::default() };
    loop {
        let page = s3.list(&list).await?;
        match (page.objects.into_iter().next(), page.next) {
            (None, Some(next)) => list.continuation = Some(next),
            (first, _) => return Ok(first),
        }
    }
}
