//! Everything that changes names under the root.

use super::errors;
use super::layout::{Layout, make_directory, plain_file, tag};
use super::sync;
use object_store::path::Path;
use object_store::{Error, PutMode, PutPayload, PutResult, Result, UpdateVersion};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// How often a put makes its directories again because a delete has just removed them.
const RACES_MAX: usize = 64;

/// A file that nobody sees yet, removed when dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Whether it was given the name of an object: then only its durability may still be open.
    placed: AtomicBool,
}

impl Temporary {
    pub(super) fn new(layout: &Layout) -> io::Result<Self> {
        let path = layout.temporary()?.join(uuid::Uuid::new_v4().simple().to_string());
        let file = OpenOptions::new().create_new(true).write(true).open(&path)?;
        Ok(Self { path, file, placed: AtomicBool::new(false) })
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
    let target = layout.file(key)?;
    if fs::symlink_metadata(&target).is_err() {
        return Ok(());
    }
    sync::parents(layout, &target).map_err(|error| errors::of_write(key, error))?;
    Err(Error::AlreadyExists { path: key.to_string(), source: "the file exists".into() })
}

/// Puts a written file in the place of `key`, durably. After an error it may be done again.
pub(super) fn publish(layout: &Layout, key: &Path, temporary: &Temporary, mode: &PutMode) -> Result<PutResult> {
    let target = layout.file(key)?;
    let write_error = |error| errors::of_write(key, error);
    if temporary.placed.load(Ordering::Relaxed) {
        sync::parents(layout, &target).map_err(write_error)?;
    } else {
        temporary.finish().map_err(write_error)?;
        let turn = match mode {
            PutMode::Update(_) => layout.alone(),
            _ => layout.share(),
        };
        let _turn = turn.map_err(write_error)?;
        if let PutMode::Update(version) = mode {
            refuse_other(layout, key, version)?;
        }
        place(layout, &target, || give_name(temporary, &target, mode)).map_err(write_error)?;
    }
    let meta = temporary.file.metadata().map_err(write_error)?;
    Ok(PutResult { e_tag: Some(tag(&meta)), version: None, extensions: Default::default() })
}

/// Fails if what has the name of `key` is not `version`.
fn refuse_other(layout: &Layout, key: &Path, version: &UpdateVersion) -> Result<()> {
    let Some(expected) = version.e_tag.as_deref() else {
        return Err(errors::invalid("an update needs the tag of what it replaces".to_owned()));
    };
    let target = layout.file(key)?;
    let found = current_tag(&target).map_err(|error| errors::of_write(key, error))?;
    if found.as_deref() == Some(expected) {
        return Ok(());
    }
    sync::parents(layout, &target).map_err(|error| errors::of_write(key, error))?;
    Err(errors::precondition(key, format!("its tag is {found:?}, not {expected:?}")))
}

fn give_name(temporary: &Temporary, target: &std::path::Path, mode: &PutMode) -> io::Result<()> {
    match mode {
        // A link fails if the name is taken, a rename replaces what has it.
        PutMode::Create => fs::hard_link(&temporary.path, target)?,
        PutMode::Overwrite | PutMode::Update(_) => fs::rename(&temporary.path, target)?,
    }
    temporary.placed.store(true, Ordering::Relaxed);
    Ok(())
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
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                sync::parents(layout, target)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        }
    }
    sync::parents(layout, target)
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
        let synced = sync_left(layout, &Path::default(), &touched);
        // Which keys it hits is not known: who deletes again from the first error on deletes all of them.
        if let (Err(error), Some(first)) = (synced, results.first_mut()) {
            *first = Err(error);
        }
    }
    prune(layout, &touched);
    results
}

/// Makes what was removed from `directories` stay removed.
fn sync_left(layout: &Layout, key: &Path, directories: &BTreeSet<PathBuf>) -> Result<()> {
    let synced = directories.iter().try_for_each(|directory| sync::removals(layout, directory));
    synced.map_err(|error| errors::of(key, error))
}

/// Removes the file of `key`; says which directory it was in. A missing one is as good as removed, when that is durable.
fn remove(layout: &Layout, key: &Path) -> Result<Option<PathBuf>> {
    let target = layout.file(key)?;
    let directory = || Ok(target.parent().map(PathBuf::from));
    match fs::remove_file(&target) {
        Ok(()) => directory(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => directory(),
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
    let left = BTreeSet::from_iter(source.parent().map(PathBuf::from));
    {
        let _turn = layout.share().map_err(|error| errors::of_write(to, error))?;
        let found = fs::symlink_metadata(&source);
        if found.is_err() {
            // An earlier attempt may have moved it.
            sync::parents(layout, &target).map_err(|error| errors::of_write(to, error))?;
            sync_left(layout, from, &left)?;
        }
        plain_file(from, found.map_err(|error| errors::of(from, error))?)?;
        place(layout, &target, || if create { fs::hard_link(&source, &target) } else { fs::rename(&source, &target) })
            .map_err(|error| errors::of_write(to, error))?;
    }
    if create {
        // The new name is durable before the old one goes.
        return delete(layout, vec![from.clone()]).into_iter().try_for_each(|result| result.map(|_| ()));
    }
    sync_left(layout, from, &left)?;
    prune(layout, &left);
    Ok(())
}
