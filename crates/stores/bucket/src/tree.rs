//! What a mount makes of keys and user metadata, for who copies whole trees: a tree that is copied has the names and the
//! attributes that it has in a mount.

pub use crate::metadata::{BYTES_MAX as METADATA_BYTES_MAX, Metadata, RESERVED};

use crate::escape::{self, Role};
use stoa_vfs::Name;

/// The content type of markers, as s3fs and consoles write them.
pub const MARKER_TYPE: &str = "application/x-directory";

/// The path of the object `key`, which is not the marker of a directory. `beside`: there are keys that begin with `key/`, too.
/// `None` if it has none.
#[must_use]
pub fn path_of_object(key: &str, beside: bool) -> Option<Vec<Name>> {
    let (above, last) = key.rsplit_once('/').map_or((None, key), |(above, last)| (Some(above), last));
    let mut path = above.map_or(Some(Vec::new()), path_of_directory)?;
    names(last, beside, &mut path)?;
    Some(path)
}

/// The path of the directory of all keys that begin with `key/`.
#[must_use]
pub fn path_of_directory(key: &str) -> Option<Vec<Name>> {
    let mut path = Vec::new();
    key.split('/').try_for_each(|component| names(component, false, &mut path))?;
    Some(path)
}

/// What a path stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spelled {
    /// The object with this key.
    Object {
        /// The key.
        key: String,
        /// Whether its name says that there is a directory of the same component.
        beside: bool,
    },
    /// The keys that begin with this: a directory. It ends with a slash.
    Directory(String),
    /// A directory that is the beginning of a component that is too long for a name: it has no marker.
    Continued,
}

/// What a path of a file stands for; `None` if no key has it.
#[must_use]
pub fn object_at(path: &[Name]) -> Option<Spelled> {
    let (key, role) = spelled(path)?;
    let beside = role == Role::Beside;
    let is_own = role != Role::Continued && path_of_object(&key, beside).is_some_and(|own| own == path);
    is_own.then_some(Spelled::Object { key, beside })
}

/// What a path of a directory stands for; `None` if no key is in it.
#[must_use]
pub fn directory_at(path: &[Name]) -> Option<Spelled> {
    let (key, role) = spelled(path)?;
    match role {
        Role::Plain => {
            path_of_directory(&key).is_some_and(|own| own == path).then(|| Spelled::Directory(format!("{key}/")))
        }
        // Whether it continues is for the names below to say: each file's whole path is looked at.
        Role::Continued => Some(Spelled::Continued),
        Role::Beside => None,
    }
}

fn spelled(path: &[Name]) -> Option<(String, Role)> {
    let (last, above) = path.split_last()?;
    let mut key = String::new();
    for name in above {
        let (text, role) = escape::decode(name)?;
        key.push_str(&text);
        match role {
            Role::Plain => key.push('/'),
            Role::Continued => {}
            Role::Beside => return None,
        }
    }
    let (text, role) = escape::decode(last)?;
    Some((key + &text, role))
}

fn names(component: &str, beside: bool, path: &mut Vec<Name>) -> Option<()> {
    let mut ended = false;
    for part in escape::parts(component, beside) {
        ended = part.role != Role::Continued;
        path.push(part.name);
    }
    ended.then_some(())
}

#[cfg(test)]
mod tests;
