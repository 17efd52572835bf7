//! Random operations on a mount, noted in a [`History`] as they succeed, until one fails because the mount is gone.

use crate::history::{Change, Entry, FileHistory, History, Id, Names};
use anyhow::{Result, ensure};
use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::IteratorRandom;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use stoa_tests::content;

const FILE_LEN_MAX: usize = 300_000;

/// After so many there are no more: the history keeps the whole namespace after each.
const NAME_OPERATIONS_MAX: usize = 3000;

/// What a failed call says when the server behind the mount was killed.
const GONE: [i32; 5] = [libc::ENOTCONN, libc::ECONNABORTED, libc::EIO, libc::ENODEV, libc::EINTR];

/// Works in `base`, which must not exist yet, until the mount is killed. A call that was under way then may have happened
/// or not: it is noted as the last operation, which nothing requires.
pub(crate) fn run(base: &Path, rng: SmallRng) -> Result<History> {
    let mut worker = Worker { base, rng, history: History::new() };
    let end = fs::create_dir(base).and_then(|()| {
        let mut names = Names::new();
        names.insert(String::new(), Entry::Directory);
        worker.history.push(names);
        loop {
            worker.step()?;
        }
    });
    let Err::<(), _>(error) = end else { return Ok(worker.history) };
    ensure!(error.raw_os_error().is_some_and(|number| GONE.contains(&number)), "an operation failed: {error}");
    // `base` itself may be made by the call that failed.
    if worker.history.operations() == 0 {
        worker.history.push(Names::from([(String::new(), Entry::Directory)]));
    }
    Ok(worker.history)
}

struct Worker<'a> {
    base: &'a Path,
    rng: SmallRng,
    history: History,
}

impl Worker<'_> {
    fn step(&mut self) -> io::Result<()> {
        let kinds = if self.history.operations() < NAME_OPERATIONS_MAX { 0..100 } else { 18..60 };
        match self.rng.random_range(kinds) {
            0..18 => self.create(),
            18..48 => self.write(),
            48..54 => self.truncate(),
            54..60 => self.sync(),
            60..68 => self.make_directory(),
            68..80 => self.rename(),
            80..86 => self.link(),
            86..93 => self.unlink(),
            93..96 => self.symlink(),
            _ => self.exchange(),
        }
    }

    /// Notes the namespace that `call` is to lead to, then does it. If it fails with the mount the state stays noted, as
    /// the call may have been carried out; nothing after it can be.
    fn change_names(
        &mut self,
        change: impl FnOnce(&mut Names),
        call: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut names = self.history.now();
        change(&mut names);
        self.history.push(names);
        call(self.base)
    }

    fn create(&mut self) -> io::Result<()> {
        let Some(path) = self.new_path() else { return Ok(()) };
        let id: Id = self.history.files.len();
        // 6 bits tell a file from its neighbours.
        let mode = 0o600 | u32::try_from(id % 64).unwrap_or(0);
        self.history.files.push(FileHistory { mode, changes: Vec::new() });
        self.change_names(
            |names| drop(names.insert(path.clone(), Entry::File(id))),
            |base| File::options().write(true).create_new(true).mode(mode).open(base.join(&path)).map(drop),
        )
    }

    fn write(&mut self) -> io::Result<()> {
        let Some((path, id)) = self.some_file() else { return Ok(()) };
        let len =
            if self.rng.random() { self.rng.random_range(1..3000) } else { self.rng.random_range(1..FILE_LEN_MAX / 2) };
        let offset = self.rng.random_range(0..FILE_LEN_MAX / 2);
        let data = content::bytes(self.rng.random(), len);
        self.history.change(id, Change::Write(offset, data.clone()));
        File::options().write(true).open(self.base.join(path))?.write_all_at(&data, offset as u64)
    }

    fn truncate(&mut self) -> io::Result<()> {
        let Some((path, id)) = self.some_file() else { return Ok(()) };
        let size = self.rng.random_range(0..FILE_LEN_MAX);
        self.history.change(id, Change::Truncate(size));
        File::options().write(true).open(self.base.join(path))?.set_len(size as u64)
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.rng.random_bool(0.2) {
            File::open(self.base)?.sync_all()?;
            self.history.synced(None);
        } else if let Some((path, id)) = self.some_file() {
            File::open(self.base.join(path))?.sync_all()?;
            self.history.synced(Some(id));
        }
        Ok(())
    }

    fn make_directory(&mut self) -> io::Result<()> {
        let Some(path) = self.new_path() else { return Ok(()) };
        self.change_names(
            |names| drop(names.insert(path.clone(), Entry::Directory)),
            |base| fs::create_dir(base.join(&path)),
        )
    }

    fn symlink(&mut self) -> io::Result<()> {
        let Some(path) = self.new_path() else { return Ok(()) };
        let target = format!("target-{}", self.rng.random::<u32>());
        self.change_names(
            |names| drop(names.insert(path.clone(), Entry::Symlink(target.clone()))),
            |base| std::os::unix::fs::symlink(&target, base.join(&path)),
        )
    }

    fn link(&mut self) -> io::Result<()> {
        let (Some((from, id)), Some(to)) = (self.some_file(), self.new_path()) else { return Ok(()) };
        self.change_names(
            |names| drop(names.insert(to.clone(), Entry::File(id))),
            |base| fs::hard_link(base.join(&from), base.join(&to)),
        )
    }

    fn unlink(&mut self) -> io::Result<()> {
        let Some((path, _)) = self.some_file() else { return Ok(()) };
        self.change_names(|names| drop(names.remove(&path)), |base| fs::remove_file(base.join(&path)))
    }

    /// Of a directory with everything below it, or of a file, to a new name or over another file.
    fn rename(&mut self) -> io::Result<()> {
        let onto_a_file = self.rng.random_bool(0.3);
        let (from, to) = if onto_a_file {
            let (Some((from, id)), Some((to, replaced))) = (self.some_file(), self.some_file()) else { return Ok(()) };
            // rename(2) does nothing if both are names of one file.
            if id == replaced {
                return Ok(());
            }
            let operation = self.history.operations() + 1;
            self.history.change(id, Change::Floor { if_reached: Some(operation) });
            (from, to)
        } else {
            let (Some(from), Some(to)) = (self.some_path(), self.new_path()) else { return Ok(()) };
            if to.starts_with(&format!("{from}/")) {
                return Ok(());
            }
            (from, to)
        };
        self.change_names(|names| moved(names, &from, &to), |base| fs::rename(base.join(&from), base.join(&to)))
    }

    fn exchange(&mut self) -> io::Result<()> {
        let (Some((a, _)), Some((b, _))) = (self.some_file(), self.some_file()) else { return Ok(()) };
        if a == b {
            return Ok(());
        }
        self.change_names(
            |names| {
                if let (Some(first), Some(second)) = (names.remove(&a), names.remove(&b)) {
                    names.insert(a.clone(), second);
                    names.insert(b.clone(), first);
                }
            },
            |base| Ok(renameat_with(CWD, base.join(&a), CWD, base.join(&b), RenameFlags::EXCHANGE)?),
        )
    }

    fn some_file(&mut self) -> Option<(String, Id)> {
        let names = self.history.states.last()?;
        let files = names.iter().filter_map(|(path, entry)| match entry {
            Entry::File(id) => Some((path.clone(), *id)),
            Entry::Directory | Entry::Symlink(_) => None,
        });
        files.choose(&mut self.rng)
    }

    fn some_path(&mut self) -> Option<String> {
        self.history.states.last()?.keys().filter(|path| !path.is_empty()).choose(&mut self.rng).cloned()
    }

    /// A path in some directory that is not taken.
    fn new_path(&mut self) -> Option<String> {
        let names = self.history.states.last()?;
        let directories = names.iter().filter(|(_, entry)| **entry == Entry::Directory);
        let (directory, _) = directories.choose(&mut self.rng)?;
        let name = format!("n{}", self.rng.random_range(0..10_000));
        let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
        (!names.contains_key(&path)).then_some(path)
    }
}

/// Moves `from`, and all below it, to `to`.
fn moved(names: &mut Names, from: &str, to: &str) {
    let below = format!("{from}/");
    let paths: Vec<String> = names.keys().filter(|path| *path == from || path.starts_with(&below)).cloned().collect();
    for path in paths {
        if let (Some(entry), Some(rest)) = (names.remove(&path), path.strip_prefix(from)) {
            names.insert(format!("{to}{rest}"), entry);
        }
    }
}
