//! From the keys of a page to the names in a directory.
//!
//! An object `a` and a directory `a/` are both there when a bucket has the keys `a` and `a/b`. The directory is `a` then, and the
//! object `a%@file`. In a listing `a` comes first, and there may be pages between it and `a/` (`a-1`, `a-2`, ...): it stays open
//! until something that comes after `a/` says that there is no such directory.

use super::mark::Mark;
use crate::directory::Directory;
use crate::escape::Role;
use std::cmp::Ordering;
use stoa_objects::s3::{Listed, Page};
use stoa_vfs::Name;

/// What a name of a page stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Directory(Directory),
    Object(Listed),
}

/// The names of a page that begins at `mark`, and what is open at its end. `last`: no key comes after it.
///
/// # Errors
/// The key that is out of order: without order, nothing says that an object has no directory beside it.
pub(super) fn merge(
    directory: &Directory,
    mark: &Mark,
    page: Page,
    last: bool,
) -> Result<(Vec<(Name, Item)>, Mark), String> {
    let mut merging = Merging { directory, entries: Vec::new(), mark: mark.clone() };
    for key in in_order(page) {
        let text = key.text();
        if text <= merging.mark.after.as_str() {
            return Err(text.to_owned());
        }
        merging.mark.after = text.to_owned();
        merging.decide(text);
        match key {
            Key::Prefix(prefix) => merging.directory(&prefix),
            Key::Object(object) if is_marker(directory, &object) => {}
            Key::Object(object) => merging.mark.open.push(object),
        }
    }
    while last && let Some(object) = merging.mark.open.pop() {
        merging.object(object, false);
    }
    Ok((merging.entries, merging.mark))
}

/// Whether an object is the directory's own marker. One that has content must have a name.
pub(super) fn is_marker(directory: &Directory, object: &Listed) -> bool {
    object.key == directory.prefix() && !directory.is_continued() && object.size == 0
}

struct Merging<'d> {
    directory: &'d Directory,
    entries: Vec<(Name, Item)>,
    mark: Mark,
}

impl Merging<'_> {
    /// Finds out about the open objects, now that `text` comes next.
    fn decide(&mut self, text: &str) {
        while let Some(object) = self.mark.open.pop() {
            match text.as_bytes().iter().cmp(object.key.as_bytes().iter().chain(b"/")) {
                Ordering::Less => return self.mark.open.push(object),
                order => self.object(object, order == Ordering::Equal),
            }
        }
    }

    fn object(&mut self, object: Listed, beside: bool) {
        let component = self.directory.component(&object.key).to_owned();
        self.add(&component, beside, Item::Object(object));
    }

    fn directory(&mut self, prefix: &str) {
        let path = prefix.strip_suffix('/').unwrap_or(prefix);
        let component = self.directory.component(path).to_owned();
        self.add(&component, false, Item::Directory(Directory::new(prefix)));
    }

    fn add(&mut self, component: &str, beside: bool, item: Item) {
        // Without a name in here it has its name above, beside this beginning of longer ones.
        let Some(part) = self.directory.part(component, beside) else { return };
        if part.role != Role::Continued {
            return self.entries.push((part.name, item));
        }
        if self.mark.continued.as_ref() != Some(&part.name) {
            self.mark.continued = Some(part.name.clone());
            let begun = component.get(..part.end).unwrap_or_default();
            self.entries.push((part.name, Item::Directory(self.directory.continued(begun))));
        }
    }
}

enum Key {
    Object(Listed),
    Prefix(String),
}

impl Key {
    fn text(&self) -> &str {
        match self {
            Self::Object(object) => &object.key,
            Self::Prefix(prefix) => prefix,
        }
    }
}

/// Objects and prefixes of a page as one sequence.
fn in_order(page: Page) -> impl Iterator<Item = Key> {
    let mut objects = page.objects.into_iter().peekable();
    let mut prefixes = page.prefixes.into_iter().peekable();
    std::iter::from_fn(move || {
        let object_is_next = match (objects.peek(), prefixes.peek()) {
            (Some(object), Some(prefix)) => object.key < *prefix,
            (object, _) => object.is_some(),
        };
        if object_is_next { objects.next().map(Key::Object) } else { prefixes.next().map(Key::Prefix) }
    })
}

#[cfg(test)]
mod tests;
