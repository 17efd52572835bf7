//! A picture of a whole tree, and how two differ.

use super::apply::AttrView;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use stoa_vfs::{Attr, Cookie, Error, Ino, Kind, OpenFlags, Result, Seek, Timestamp, Vfs};

/// Content is looked at in pieces of this size; those of zeros count for nothing, so holes make no difference.
const BLOCK: usize = 4096;
const CHUNK: usize = 1 << 20;
/// More is no tree but a circle.
const ENTRIES_MAX: usize = 1_000_000;
/// Times before this were set by a script, and not by a clock.
const EXPLICIT_SECS_MAX: i64 = 1_000_000_000;

/// What one name shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Attributes that every store agrees on.
    pub attr: AttrView,
    /// A hash of the content of a file, or of a symbolic link's target.
    pub content: u64,
    /// Extended attributes: the hash of each value.
    pub xattrs: BTreeMap<Vec<u8>, u64>,
    /// The first path of the same inode: its own, unless it is a further hard link.
    pub first_name: Vec<u8>,
}

/// What a store holds, by path.
pub type Tree = BTreeMap<Vec<u8>, Picture>;

/// A modification time that was set rather than stamped by a clock.
pub(super) fn explicit(time: Timestamp) -> Option<Timestamp> {
    (time.secs < EXPLICIT_SECS_MAX).then_some(time)
}

pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Takes a picture of all that `vfs` holds. Nothing may change it meanwhile.
///
/// # Errors
/// What the store refuses: a sound store refuses none of this.
pub async fn snapshot(vfs: &dyn Vfs) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut first_names: HashMap<Ino, Vec<u8>> = HashMap::new();
    let mut waiting = vec![(b"/".to_vec(), vfs.getattr(Ino::ROOT).await?)];
    // The names are met in order of depth first, and sorted in a directory: the same on every store.
    while let Some((path, attr)) = waiting.pop() {
        assert!(tree.len() < ENTRIES_MAX, "more than {ENTRIES_MAX} entries");
        let first_name = first_names.entry(attr.ino).or_insert_with(|| path.clone()).clone();
        let picture = picture(vfs, &attr, first_name).await?;
        if attr.kind == Kind::Directory {
            waiting.extend(children(vfs, attr.ino, &path).await?);
        }
        tree.insert(path, picture);
        vfs.forget(attr.ino, u64::from(attr.ino != Ino::ROOT));
    }
    Ok(tree)
}

/// The entries of a directory, the last name first; each is a reference.
async fn children(vfs: &dyn Vfs, dir: Ino, path: &[u8]) -> Result<Vec<(Vec<u8>, Attr)>> {
    let mut found = Vec::new();
    let mut after = Cookie::START;
    loop {
        let page = vfs.readdir(dir, after, 256, false).await?;
        for listed in page.entries {
            after = listed.cookie;
            let attr = vfs.lookup(dir, &listed.name).await?.attr;
            assert_eq!(
                (attr.ino, attr.kind),
                (listed.ino, listed.kind),
                "{:?} is listed as another inode",
                listed.name
            );
            let separator: &[u8] = if path == b"/" { b"" } else { b"/" };
            found.push(([path, separator, listed.name.as_bytes()].concat(), attr));
        }
        if page.end {
            break;
        }
    }
    found.sort_by(|(left, _), (right, _)| right.cmp(left));
    Ok(found)
}

async fn picture(vfs: &dyn Vfs, attr: &Attr, first_name: Vec<u8>) -> Result<Picture> {
    let content = match attr.kind {
        Kind::Regular => content_hash(vfs, attr.ino, attr.size).await?,
        Kind::Symlink => hash(&vfs.readlink(attr.ino).await?),
        _ => 0,
    };
    let mut xattrs = BTreeMap::new();
    // A store without extended attributes has none to show.
    let names = match vfs.listxattr(attr.ino).await {
        Err(Error::Unsupported(_)) => Vec::new(),
        names => names?,
    };
    for name in names {
        let value = vfs.getxattr(attr.ino, &name).await?;
        xattrs.insert(name.to_vec(), hash(&value));
    }
    Ok(Picture { attr: AttrView::new(attr), content, xattrs, first_name })
}

async fn content_hash(vfs: &dyn Vfs, ino: Ino, size: u64) -> Result<u64> {
    /// Beyond this, holes are stepped over: they would take for ever to read.
    const READ_ALL_MAX: u64 = 64 << 20;
    let handle = vfs.open(ino, OpenFlags::default()).await?;
    let mut hasher = DefaultHasher::new();
    let mut at = 0;
    while at < size {
        if size > READ_ALL_MAX {
            match vfs.seek(ino, at, Seek::Data).await {
                Ok(data) => at = data / BLOCK as u64 * BLOCK as u64,
                Err(Error::NoOffset) => break,
                Err(error) => return Err(error),
            }
        }
        let bytes = vfs.read(ino, handle, at, CHUNK).await?.concat();
        let expected = (size - at).min(CHUNK as u64);
        assert_eq!(bytes.len() as u64, expected, "a short read at {at} of {size}");
        for (number, block) in bytes.chunks(BLOCK).enumerate() {
            if block.iter().any(|byte| *byte != 0) {
                (at + (number * BLOCK) as u64).hash(&mut hasher);
                block.hash(&mut hasher);
            }
        }
        at += expected;
    }
    vfs.release(ino, handle).await;
    Ok(hasher.finish())
}

/// What is on the left and not on the right, and the other way round, a line each; nothing if they are the same.
#[must_use]
pub fn diff(left: &Tree, right: &Tree) -> Vec<String> {
    let show = |path: &[u8]| path.escape_ascii().to_string();
    let mut lines = Vec::new();
    for (path, picture) in left {
        match right.get(path) {
            None => lines.push(format!("{}: only left: {picture:?}", show(path))),
            Some(other) if other != picture => lines.extend(differences(&show(path), picture, other)),
            Some(_) => {}
        }
    }
    for (path, picture) in right.iter().filter(|(path, _)| !left.contains_key(*path)) {
        lines.push(format!("{}: only right: {picture:?}", show(path)));
    }
    lines
}

fn differences(path: &str, left: &Picture, right: &Picture) -> Vec<String> {
    let mut lines = Vec::new();
    if left.attr != right.attr {
        lines.push(format!("{path}: attributes: left {:?}, right {:?}", left.attr, right.attr));
    }
    if left.content != right.content {
        lines.push(format!("{path}: content: left {:016x}, right {:016x}", left.content, right.content));
    }
    if left.first_name != right.first_name {
        let (left, right) = (left.first_name.escape_ascii(), right.first_name.escape_ascii());
        lines.push(format!("{path}: hard link to: left {left}, right {right}"));
    }
    let names = left.xattrs.keys().chain(right.xattrs.keys().filter(|name| !left.xattrs.contains_key(*name)));
    for name in names {
        let (left, right) = (left.xattrs.get(name), right.xattrs.get(name));
        if left != right {
            lines.push(format!("{path}: {}: left {left:x?}, right {right:x?}", name.escape_ascii()));
        }
    }
    lines
}
