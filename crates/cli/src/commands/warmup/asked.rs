//! Which files are meant.

use super::{note, readers::Shared};
use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How much is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Files with something in them.
    pub(super) files: u64,
    /// Bytes of these, without holes.
    pub(super) bytes: u64,
}

impl Asked {
    /// Counts, without reading them, what [`each`] finds.
    pub(super) fn count(paths: &[PathBuf], shared: &Shared) -> Self {
        let mut asked = Self::default();
        // Stopped or not, what was counted is what is known.
        let _ = each(paths, shared, &mut |_, bytes| {
            asked.files += 1;
            asked.bytes += bytes;
            ControlFlow::Continue(())
        });
        // They will be met again when the files are read.
        shared.forget_errors();
        asked
    }
}

/// Tells `found` of every file at or below `paths` that is not empty, with its bytes. Stays in the file system, follows no
/// links, takes a file of several names once, and notes what can't be looked at.
pub(super) fn each(
    paths: &[PathBuf],
    shared: &Shared,
    found: &mut impl FnMut(PathBuf, u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut linked = HashSet::new();
    for top in paths {
        let device = match fs::symlink_metadata(top) {
            Ok(meta) => meta.dev(),
            Err(error) => {
                note(shared, top, &error);
                continue;
            }
        };
        let mut waiting = vec![top.clone()];
        while let Some(path) = waiting.pop() {
            if shared.is_stopped() {
                return ControlFlow::Break(());
            }
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.dev() != device => {}
                Ok(meta) if meta.is_dir() => list(&path, shared, &mut waiting),
                Ok(meta) if meta.is_file() && meta.len() > 0 && (meta.nlink() < 2 || linked.insert(meta.ino())) => {
                    found(path, stored_bytes(&meta))?;
                }
                Ok(_) => {}
                Err(error) => note(shared, &path, &error),
            }
        }
    }
    ControlFlow::Continue(())
}

/// Adds what is in a directory, so that it is taken in the order of names.
fn list(dir: &Path, shared: &Shared, waiting: &mut Vec<PathBuf>) {
    let before = waiting.len();
    let entries = fs::read_dir(dir).map(|entries| {
        for entry in entries {
            match entry {
                Ok(entry) => waiting.push(entry.path()),
                Err(error) => note(shared, dir, &error),
            }
        }
    });
    if let Err(error) = entries {
        note(shared, dir, &error);
    }
    if let Some(new) = waiting.get_mut(before..) {
        new.sort_unstable_by(|a, b| b.cmp(a));
    }
}

/// The bytes of a file that are not holes, as far as its blocks tell.
fn stored_bytes(meta: &Metadata) -> u64 {
    meta.len().min(meta.blocks().saturating_mul(512))
}

#[cfg(test)]
mod tests;
