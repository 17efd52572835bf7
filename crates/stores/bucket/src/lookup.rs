//! Finding what one name stands for.
//!
//! A listing of the directory that is at hand answers. Otherwise the store is asked for the few keys that begin like the name: that of
//! the object is the first of them, and those of a directory come soon. Where that does not say it all, two requests go out at the same time:
//! HEAD, for the object, and LIST with one key, for the directory.

use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::error::told;
use crate::escape::{self, Role};
use crate::found::Found;
use crate::inodes::Node;
use crate::listing::{first_below, listed};
use futures::future;
use stoa_objects::s3::{List, Listed, ObjectInfo};
use stoa_objects::{Error as ObjectsError, Result as ObjectsResult};
use stoa_vfs::{Cookie, Error, Name, Result};
use tokio::time::Instant;

/// The longest key, in bytes, that S3 has.
const KEY_BYTES_MAX: usize = 1024;

/// How many keys are asked for that begin like a name. Names that go on after it with one of `!` to `.` come before its directory.
const NEAR_KEYS_MAX: u16 = 16;

/// What a name says about a directory, and the keys that it could stand for.
struct Wanted<'n> {
    name: &'n Name,
    component: String,
    role: Role,
    key: String,
    /// What the keys below it would begin with.
    below: Directory,
}

impl Bucket {
    /// What `name` stands for in the directory of `node`.
    pub(crate) async fn find(&self, node: &Node, directory: &Directory, name: &Name) -> Result<Found> {
        if let Some(found) = self.find_draft(directory, name) {
            return Ok(found);
        }
        let wanted = wanted(directory, name).ok_or(Error::NotFound)?;
        if wanted.role == Role::Continued {
            return self.find_continued(node, directory, wanted).await;
        }
        let mut found = self.recent.get(directory, name);
        if found.is_none() {
            found = self.find_listed(node, directory, &wanted).await?;
        }
        // A read may know better than what was heard before.
        let gone = |found: &Option<Found>| found.as_ref().is_some_and(|found| self.inodes.is_stale(&found.target));
        if let Some(found) = found.filter(|found| !gone(found)) {
            return found.ok_or(Error::NotFound);
        }
        let asked = Instant::now();
        let found = self.ask(&wanted).await?;
        if let Some(found) = &found {
            self.inodes.is_there(&found.target);
        }
        self.recent.keep(directory, name, found.as_ref(), asked);
        found.ok_or(Error::NotFound)
    }

    /// What the latest listing of the directory says, if it says anything. It costs a request for each page that is not at hand
    /// any more, and so one for many names.
    async fn find_listed(
        &self,
        node: &Node,
        directory: &Directory,
        wanted: &Wanted<'_>,
    ) -> Result<Option<Option<Found>>> {
        let Some(scan) = node.listing.recent(self.ttl) else { return Ok(None) };
        // Who looks at every name after a long listing takes longer than a listing is believed.
        scan.touch();
        let mut seen = None;
        // It is where its own key is, unless a later page had to say whether there is a directory too.
        for key in [wanted.key.as_str(), wanted.below.prefix()] {
            let Some(number) = scan.covering(key) else { return Ok(None) };
            if seen.replace(number) == Some(number) {
                continue;
            }
            let page = self.page(directory, &scan, number, Some(self.ttl)).await?;
            if let Some(found) = page.find(wanted.name) {
                return Ok(Some(Some(found.clone())));
            }
        }
        Ok(Some(None))
    }

    /// A directory in which components go on that are too long: it is there if it has an entry.
    async fn find_continued(&self, node: &Node, directory: &Directory, wanted: Wanted<'_>) -> Result<Found> {
        let (scan, _) = node.listing.resume(Cookie::START, self.ttl)?;
        let mut number = 0;
        loop {
            let page = self.page(directory, &scan, number, None).await?;
            if let Some(found) = page.find(wanted.name) {
                return Ok(found.clone());
            }
            if page.last {
                return Err(Error::NotFound);
            }
            number += 1;
        }
    }

    async fn ask(&self, wanted: &Wanted<'_>) -> Result<Option<Found>> {
        if wanted.key.len() > KEY_BYTES_MAX {
            return Ok(None);
        }
        let near = match self.finder.asks_objects() || wanted.component.is_empty() {
            true => Ok(None),
            false => self.ask_near(wanted).await,
        };
        let (object, below) = match near {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => future::join(self.ask_head(wanted), first_below(&self.s3, wanted.below.prefix())).await,
            // Whoever may not list may still know a key.
            Err(denied @ ObjectsError::Denied { .. }) => (self.ask_head(wanted).await, Err(denied)),
            Err(error) => return Err(told(error)),
        };
        let is_directory = match (&below, &object) {
            (Ok(first), _) => first.is_some(),
            // Whoever may not list sees no directories, and opens what it knows.
            (Err(ObjectsError::Denied { .. }), Ok(Some(_))) => false,
            (Err(error), _) => return Err(told(error.clone())),
        };
        match (is_directory, wanted.role) {
            (true, Role::Plain) => self.ask_directory(wanted, below.ok().flatten()).await.map(Some),
            // Without a directory it has a plain name.
            (false, Role::Beside) => Ok(None),
            _ => self.of_object(wanted, object).await,
        }
    }

    /// What the keys say that begin like a name; nothing if they can't say it all.
    async fn ask_near(&self, wanted: &Wanted<'_>) -> ObjectsResult<Option<Option<Found>>> {
        let list = List {
            prefix: wanted.key.clone(),
            delimiter: Some("/".to_owned()),
            keys_max: Some(NEAR_KEYS_MAX),
            ..List::default()
        };
        let page = self.s3.list(&list).await?;
        let below = wanted.below.prefix();
        let is_directory = page.prefixes.iter().any(|prefix| prefix == below);
        let passed = |last: Option<&str>| last.is_some_and(|last| last > below);
        let last = page.objects.last().map(|object| object.key.as_str());
        if page.next.is_some() && !is_directory && !passed(last) && !passed(page.prefixes.last().map(String::as_str)) {
            return Ok(None);
        }
        let object = page.objects.into_iter().find(|object| object.key == wanted.key);
        Ok(Some(match (is_directory, wanted.role) {
            (true, Role::Plain) => Some(self.finder.directory(wanted.below.clone(), None)),
            (false, Role::Beside) => None,
            _ => object.map(|object| self.finder.listed(object)),
        }))
    }

    async fn ask_head(&self, wanted: &Wanted<'_>) -> ObjectsResult<Option<ObjectInfo>> {
        if wanted.key.is_empty() {
            return Ok(None);
        }
        match self.s3.head(&wanted.key, None).await {
            // A marker is the directory that it marks, and no file in it, unless it has content.
            Ok(info) => Ok(Some(info).filter(|info| !wanted.component.is_empty() || info.size > 0)),
            Err(ObjectsError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn ask_directory(&self, wanted: &Wanted<'_>, first: Option<Listed>) -> Result<Found> {
        let has_marker = first.is_some_and(|first| first.key == wanted.below.prefix());
        match has_marker && self.finder.asks_objects() {
            true => self.ask_marker(wanted.below.clone()).await,
            false => Ok(self.finder.directory(wanted.below.clone(), None)),
        }
    }

    async fn of_object(&self, wanted: &Wanted<'_>, object: ObjectsResult<Option<ObjectInfo>>) -> Result<Option<Found>> {
        match object {
            Ok(object) => Ok(object.map(|info| self.finder.asked(&wanted.key, &info))),
            // Whoever may list and not read sees what there is.
            Err(denied @ ObjectsError::Denied { .. }) => match listed(&self.s3, &wanted.key).await {
                Ok(listed) => Ok(listed.map(|listed| self.finder.listed(listed))),
                Err(_) => Err(told(denied)),
            },
            Err(error) => Err(told(error)),
        }
    }
}

/// What `name` says, if it is a name that something in the directory could have.
fn wanted<'n>(directory: &Directory, name: &'n Name) -> Option<Wanted<'n>> {
    let (text, role) = escape::decode(name)?;
    let component = format!("{}{text}", directory.begun());
    // Of all ways to write it only one is its name. The beginning of a component does not say how it goes on.
    let spelled =
        || directory.part(&component, role == Role::Beside).is_some_and(|part| part.name == *name && part.role == role);
    if role != Role::Continued && !spelled() {
        return None;
    }
    let (key, below) = (directory.key(&component), directory.below(&component));
    Some(Wanted { name, component, role, key, below })
}
