//! Finding what one name stands for.
//!
//! A listing of the directory that is at hand answers. Otherwise one request lists what begins with the name: the object comes first in
//! it, and soon after that the directory.

use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::error::told;
use crate::escape::{self, Role};
use crate::found::Found;
use crate::inodes::Node;
use crate::listing::first_below;
use crate::moves::shows;
use crate::rename::is_journal;
use stoa_objects::s3::limits::KEY_BYTES_MAX;
use stoa_objects::s3::{List, Listed};
use stoa_objects::{Error as ObjectsError, Result as ObjectsResult};
use stoa_vfs::{Cookie, Error, Name, Result};
use tokio::time::Instant;

/// So many names that begin with the one that is asked for are listed with it.
const NEIGHBOURS_MAX: u16 = 100;

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
        let found = self.find_any(node, directory, name).await?;
        shows(&self.moves.hidden(), &found.target).then_some(found).ok_or(Error::NotFound)
    }

    async fn find_any(&self, node: &Node, directory: &Directory, name: &Name) -> Result<Found> {
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
        let Some(scan) = node.listing.recent(self.ttl).filter(|scan| scan.knows(wanted.name)) else { return Ok(None) };
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
        let (object, is_directory) = match self.look(wanted).await {
            // Whoever may not list sees no directories, and opens what it knows.
            Err(denied @ ObjectsError::Denied { .. }) => return self.ask_unlisted(wanted, denied).await.map(Some),
            looked => looked.map_err(told)?,
        };
        match (is_directory, wanted.role) {
            (true, Role::Plain) => self.ask_directory(wanted.below.clone()).await.map(Some),
            // Without a directory it has a plain name.
            (false, Role::Beside) => Ok(None),
            _ => match object {
                Some(listed) => self.of_listed(listed).await,
                None => Ok(None),
            },
        }
    }

    /// The object at a key, and whether there are keys below it, by one listing of what begins with it.
    async fn look(&self, wanted: &Wanted<'_>) -> ObjectsResult<(Option<Listed>, bool)> {
        let mut list = List {
            prefix: wanted.key.clone(),
            delimiter: Some("/".to_owned()),
            keys_max: Some(NEIGHBOURS_MAX),
            ..List::default()
        };
        let below = wanted.below.prefix();
        let (mut object, mut is_directory, mut reached) = (None, false, false);
        loop {
            let page = self.s3.list(&list).await?;
            is_directory |= page.prefixes.iter().any(|prefix| prefix == below);
            let objects = page.objects.iter().map(|object| object.key.as_str());
            let last = objects.chain(page.prefixes.iter().map(String::as_str)).max();
            reached |= last.is_some_and(|last| last >= below);
            let is_passed = last.is_some_and(|last| last > wanted.key.as_str());
            object = object.or_else(|| page.objects.into_iter().find(|object| object.key == wanted.key));
            match page.next {
                // Of versions, a page may have none that is asked for.
                Some(next) if !is_passed => list.continuation = Some(next),
                Some(_) => break,
                None => {
                    reached = true;
                    break;
                }
            }
        }
        // Other names come between the two, such as `a.txt` between `a` and `a/`; rarely so many.
        if !reached {
            is_directory = first_below(&self.s3, below).await?.is_some();
        }
        Ok((object.filter(|object: &Listed| is_file(wanted, object.size)), is_directory))
    }

    /// An object at a key, for who may not list.
    async fn ask_unlisted(&self, wanted: &Wanted<'_>, denied: ObjectsError) -> Result<Found> {
        if wanted.key.is_empty() || wanted.role == Role::Beside {
            return Err(told(denied));
        }
        match self.s3.head(&wanted.key, None).await {
            Ok(info) if is_file(wanted, info.size) => Ok(self.finder.asked(&wanted.key, &info)),
            Ok(_) | Err(ObjectsError::NotFound { .. }) => Err(told(denied)),
            Err(error) => Err(told(error)),
        }
    }

    async fn ask_directory(&self, directory: Directory) -> Result<Found> {
        match self.finder.asks_objects() {
            true => self.ask_marker(directory).await,
            false => Ok(self.finder.directory(directory, None)),
        }
    }

    async fn of_listed(&self, listed: Listed) -> Result<Option<Found>> {
        match self.finder.asks_objects() {
            true => self.ask_object(listed).await,
            false => Ok(Some(self.finder.listed(listed))),
        }
    }
}

/// Whether an object is a file: a marker is the directory that it marks, and no file in it, unless it has content.
fn is_file(wanted: &Wanted<'_>, size: u64) -> bool {
    !wanted.component.is_empty() || (size > 0 && !wanted.key.is_empty())
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
    if is_journal(&key) {
        return None;
    }
    Some(Wanted { name, component, role, key, below })
}
