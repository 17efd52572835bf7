//! Makes names durable.
//!
//! Who is told that a name is taken, or gone, relies on it and asks no more; and it may be his own earlier attempt that did it,
//! and could not sync. So what is found is synced before it is answered for. To sync a clean directory costs little.

use super::layout::Layout;
use std::io;
use std::path::Path;

/// Makes the entry of `target`, and those of every directory on the way to it, durable. All of them, because a directory
/// that was there already may have been made by someone who has not synced it yet.
pub(super) fn parents(layout: &Layout, target: &Path) -> io::Result<()> {
    let directories = target.ancestors().skip(1).take_while(|directory| directory.starts_with(layout.root()));
    for directory in directories {
        match layout.sync(directory) {
            // No name is left in it. That it is gone is in the next.
            Err(error) if is_missing(&error) => {}
            done => done?,
        }
    }
    Ok(())
}

/// Makes what was removed from `directory` stay removed. One that was emptied, and removed itself, is so by what it was in.
pub(super) fn removals(layout: &Layout, directory: &Path) -> io::Result<()> {
    for directory in directory.ancestors().take_while(|directory| directory.starts_with(layout.root())) {
        match layout.sync(directory) {
            Err(error) if is_missing(&error) => {}
            done => return done,
        }
    }
    Ok(())
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
