//! Listing, in the order of keys.

use super::errors;
use super::layout::{Layout, TEMPORARY, object_meta};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta, Result};
use std::fs::{self, DirEntry};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Entries that a walk may be ahead of its reader.
const AHEAD: usize = 256;

/// An object or a directory, found in a directory.
struct Found {
    /// The key of an object; of a directory, the prefix of its keys, with the slash.
    key: String,
    file: PathBuf,
    directory: bool,
}

/// Every object under `prefix` whose key is greater than `after`.
pub(super) fn list(
    layout: Arc<Layout>,
    prefix: Option<Path>,
    after: Option<Path>,
) -> BoxStream<'static, Result<ObjectMeta>> {
    stream::once(async move {
        let (sender, receiver) = mpsc::channel(AHEAD);
        tokio::task::spawn_blocking(move || {
            let send = |entry| sender.blocking_send(entry).is_ok();
            if let Err(error) = walk(&layout, &prefix.unwrap_or_default(), after.as_ref(), &send) {
                send(Err(error));
            }
        });
        stream::unfold(receiver, |mut receiver| async move {
            let entry = receiver.recv().await?;
            Some((entry, receiver))
        })
    })
    .flatten()
    .boxed()
}

/// Hands every object under `prefix` to `send` until that says that nobody listens.
fn walk(
    layout: &Layout,
    prefix: &Path,
    after: Option<&Path>,
    send: &impl Fn(Result<ObjectMeta>) -> bool,
) -> Result<()> {
    let after = after.map_or("", Path::as_ref);
    // The next one to look at stands last.
    let mut stack = entries(layout, prefix)?;
    stack.reverse();
    while let Some(found) = stack.pop() {
        if found.directory {
            // All of its keys begin with `found.key`: either all come before, or it must be looked into.
            if found.key.as_str() < after && !after.starts_with(&found.key) {
                continue;
            }
            let Ok(inner) = Path::parse(found.key.trim_end_matches('/')) else {
                continue;
            };
            let mut inner = entries(layout, &inner)?;
            inner.reverse();
            stack.append(&mut inner);
        } else if found.key.as_str() > after
            && let Some(meta) = meta(&found)?
            && !send(Ok(meta))
        {
            break;
        }
    }
    Ok(())
}

/// What is directly in the directory of `prefix`, in the order of keys. A missing directory is an empty one.
fn entries(layout: &Layout, prefix: &Path) -> Result<Vec<Found>> {
    let of = |error| errors::of(prefix, error);
    let entries = match fs::read_dir(layout.directory(prefix)) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(of(error)),
    };
    let mut all = Vec::new();
    for entry in entries {
        let entry = entry.map_err(of)?;
        let kind = entry.file_type().map_err(of)?;
        if !(kind.is_file() || kind.is_dir()) || prefix.is_root() && entry.file_name() == TEMPORARY {
            continue;
        }
        all.extend(found(prefix, &entry, kind.is_dir()));
    }
    all.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    Ok(all)
}

fn found(prefix: &Path, entry: &DirEntry, directory: bool) -> Option<Found> {
    let name = entry.file_name();
    let Some(name) = name.to_str() else {
        tracing::debug!(file = %entry.path().display(), "not an object: its name is not UTF-8");
        return None;
    };
    let slash = if directory { "/" } else { "" };
    let key = if prefix.is_root() { format!("{name}{slash}") } else { format!("{prefix}/{name}{slash}") };
    Some(Found { key, file: entry.path(), directory })
}

/// The metadata of a file found, unless it was deleted since or its name is no key.
fn meta(found: &Found) -> Result<Option<ObjectMeta>> {
    let Ok(key) = Path::parse(&found.key) else {
        tracing::debug!(file = %found.file.display(), "not an object: its name is no key");
        return Ok(None);
    };
    match fs::symlink_metadata(&found.file) {
        Ok(meta) if meta.is_file() => object_meta(&key, &meta).map(Some),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(errors::of(&key, error)),
    }
}

/// The objects directly under `prefix`, and the prefixes one level down that have objects.
pub(super) fn one_level(layout: &Layout, prefix: &Path) -> Result<ListResult> {
    let mut result = ListResult { common_prefixes: Vec::new(), objects: Vec::new(), extensions: Default::default() };
    for found in entries(layout, prefix)? {
        if !found.directory {
            result.objects.extend(meta(&found)?);
            continue;
        }
        let Ok(inner) = Path::parse(found.key.trim_end_matches('/')) else {
            continue;
        };
        if has_objects(layout, &inner)? {
            result.common_prefixes.push(inner);
        }
    }
    Ok(result)
}

/// Whether there is any object under `prefix`: a directory left empty by deletes is nothing.
fn has_objects(layout: &Layout, prefix: &Path) -> Result<bool> {
    let some = std::cell::Cell::new(false);
    walk(layout, prefix, None, &|_| {
        some.set(true);
        false
    })?;
    Ok(some.get())
}
