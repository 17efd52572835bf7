//! Everything that changes names under the root.

use super::errors;
use super::layout::{Layout, make_directory, plain_file, tag};
use object_store::path::Path;
use object_store::{Error, PutMode, PutPayload, PutResult, Result};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::SystemTime;

/// How often a put makes its directories again because a delete has just removed them.
const RACES_MAX: usize = 64;

/// A file that nobody sees yet, removed when dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl Temporary {
    pub(super) fn new(layout: &Layout) -> io::Result<Self> {
        let path = layout.temporary()?.join(uuid::Uuid::new_v4().simple().to_string());
        let file = OpenOptions::new().create_new(true).write(true).open(&path)?;
        Ok(Self { path, file })
    }

    /// Makes the content durable, under a time that no other put has.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())?;
        self.file.sync_all()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Renamed away, most of the time. What can't be removed now is stale, and removed by a later open.
        let _ = fs::remove_file(&self.path);
    }
}

pub(super) fn put(layout: &Layout, key: &Path, payload: &PutPayload, mode: &PutMode) -> Result<PutResult> {
    layout.file(key)?;
    if *mode == PutMode::Create {
        // Saves writing the data when the answer is known; the link decides.
        refuse_existing(layout, key)?;
    }
    let mut temporary = Temporary::new(layout).map_err(|error| errors::of_write(key, error))?;
    let written = payload.iter().try_for_each(|part| temporary.file.write_all(part));
    written.map_err(|error| errors::of_write(key, error))?;
    publish(layout, key, &temporary, mode)
}

fn refuse_existing(layout: &Layout, key: &Path) -> Result<()> {
    match fs::symlink_metadata(layout.file(key)?) {
        Ok(_) => Err(Error::AlreadyExists { path: key.to_string(), source: "the file exists".into() }),
        Err(_) => Ok(()),
    }
}

/// Puts a written file in the place of `key`, durably.
pub(super) fn publish(layout: &Layout, key: &Path, temporary: &Temporary, mode: &PutMode) -> Result<PutResult> {
    let target = layout.file(key)?;
    let write_error = |error| errors::of_write(key, error);
    temporary.finish().map_err(write_error)?;
    let meta = temporary.file.metadata().map_err(write_error)?;
    let turn = match mode {
        PutMode::Update(_) => layout.alone(),
        _ => layout.share(),
    };
    let _turn = turn.map_err(write_error)?;
    if let PutMode::Update(version) = mode {
        let Some(expected) = version.e_tag.as_deref() else {
            return Err(errors::invalid("an update needs the tag of what it replaces".to_owned()));
        };
        let found = current_tag(&target).map_err(write_error)?;
        if found.as_deref() != Some(expected) {
            return Err(errors::precondition(key, format!("its tag is {found:?}, not {expected:?}")));
        }
    }
    place(layout, &target, || match mode {
        // A link fails if the name is taken, a rename replaces what has it.
        PutMode::Create => fs::hard_link(&temporary.path, &target),
        PutMode::Overwrite | PutMode::Update(_) => fs::rename(&temporary.path, &target),
    })
    .map_err(write_error)?;
    Ok(PutResult { e_tag: Some(tag(&meta)), version: None, extensions: Default::default() })
}

fn current_tag(target: &std::path::Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(target) {
        Ok(meta) => Ok(meta.is_file().then(|| tag(&meta))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a file its name with `step`, in directories that are made as needed, and makes the name durable.
fn place(layout: &Layout, target: &std::path::Path, step: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let mut races = 0;
    loop {
        match step() {
            Ok(()) => break,
            // No directory yet, or not any more: an emptied one is removed by a delete of another process.
            Err(error) if error.kind() == io::ErrorKind::NotFound && races < RACES_MAX => {
                races += 1;
                match make_parents(layout, target) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            Err(error) => return Err(error),
        }
    }
    sync_parents(layout, target)
}

fn make_parents(layout: &Layout, target: &std::path::Path) -> io::Result<()> {
    let mut missing = Vec::new();
    for directory in target.ancestors().skip(1).take_while(|directory| *directory != layout.root()) {
        if directory.is_dir() {
            break;
        }
        missing.push(directory);
    }
    missing.into_iter().rev().try_for_each(make_directory)
}

/// Makes the entry of `target`, and those of every directory on the way to it, durable. All of them, because a directory
/// that was there already may have been made by someone who has not synced it yet; syncing a clean one costs little.
fn sync_parents(layout: &Layout, target: &std::path::Path) -> io::Result<()> {
    for directory in target.ancestors().skip(1).take_while(|directory| directory.starts_with(layout.root())) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Deletes `keys`; the answers are in their order. Durable when it returns.
pub(super) fn delete(layout: &Layout, keys: Vec<Path>) -> Vec<Result<Path>> {
    let mut results = Vec::with_capacity(keys.len());
    let mut touched = BTreeSet::new();
    {
        let turn = layout.share();
        for key in keys {
            let removed = turn.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()));
            let result = removed.map_err(|error| errors::of(&key, error)).and_then(|_| remove(layout, &key));
            results.push(result.map(|directory| {
                touched.extend(directory);
                key
            }));
        }
        let synced = sync_directories(&touched);
        // Which keys it hits is not known; one error is enough for the caller to delete again.
        if let (Err(error), Some(last)) = (synced, results.last_mut()) {
            *last = Err(errors::of(&Path::default(), error));
        }
    }
    prune(layout, &touched);
    results
}

/// Makes what was removed from `directories` stay removed.
fn sync_directories(directories: &BTreeSet<PathBuf>) -> io::Result<()> {
    directories.iter().try_for_each(|directory| match File::open(directory) {
        Ok(directory) => directory.sync_all(),
        // Emptied and removed by another process: the file is gone with it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    })
}

/// Removes the file of `key`; says which directory it was in. A missing one is as good as removed.
fn remove(layout: &Layout, key: &Path) -> Result<Option<PathBuf>> {
    let target = layout.file(key)?;
    match fs::remove_file(&target) {
        Ok(()) => Ok(target.parent().map(PathBuf::from)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        // A directory is no object.
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(None),
        Err(error) => Err(errors::of(key, error)),
    }
}

/// Removes directories that have become empty if nobody is just putting something there; listings don't show them anyway.
fn prune(layout: &Layout, directories: &BTreeSet<PathBuf>) {
    let Some(_turn) = layout.try_alone() else {
        return;
    };
    for directory in directories {
        for empty in directory.ancestors().take_while(|directory| *directory != layout.root()) {
            if !empty.starts_with(layout.root()) || fs::remove_dir(empty).is_err() {
                break;
            }
        }
    }
}

pub(super) fn copy(layout: &Layout, from: &Path, to: &Path, mode: &PutMode) -> Result<()> {
    let mut source = File::open(layout.file(from)?).map_err(|error| errors::of(from, error))?;
    plain_file(from, source.metadata().map_err(|error| errors::of(from, error))?)?;
    layout.file(to)?;
    if *mode == PutMode::Create {
        refuse_existing(layout, to)?;
    }
    let mut temporary = Temporary::new(layout).map_err(|error| errors::of_write(to, error))?;
    // Inside the kernel, and without copying at all where the file system shares blocks.
    io::copy(&mut source, &mut temporary.file).map_err(|error| errors::of_write(to, error))?;
    publish(layout, to, &temporary, mode).map(|_| ())
}

pub(super) fn rename(layout: &Layout, from: &Path, to: &Path, create: bool) -> Result<()> {
    let (source, target) = (layout.file(from)?, layout.file(to)?);
    {
        let _turn = layout.share().map_err(|error| errors::of_write(to, error))?;
        let meta = fs::symlink_metadata(&source).map_err(|error| errors::of(from, error))?;
        plain_file(from, meta)?;
        place(layout, &target, || if create { fs::hard_link(&source, &target) } else { fs::rename(&source, &target) })
            .map_err(|error| errors::of_write(to, error))?;
    }
    if create {
        // The new name is durable before the old one goes.
        return delete(layout, vec![from.clone()]).into_iter().try_for_each(|result| result.map(|_| ()));
    }
    let left = BTreeSet::from_iter(source.parent().map(PathBuf::from));
    sync_directories(&left).map_err(|error| errors::of(from, error))?;
    prune(layout, &left);
    Ok(())
}
