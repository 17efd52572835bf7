//! Compares what is found after a crash with everything that may be.

use crate::history::{Entry, History, Id, Names};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What is found at a path: as [`Entry`], with the inode number and mode of files.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Directory,
    Symlink(String),
    File { ino: u64, mode: u32 },
}

/// Checks the tree below `base`, and returns the operation up to which it is found.
pub(crate) fn check(base: &Path, history: &History) -> Result<usize> {
    let found = survey(base)?;
    let reached = (history.durable..history.states.len())
        .find(|&operation| history.states.get(operation).is_some_and(|names| same(&found, names, history)));
    let Some(reached) = reached else { bail!("{}", nearest(&found, history)) };
    let names = history.states.get(reached).context("no such state")?;
    for (path, entry) in names {
        let Entry::File(id) = entry else { continue };
        let content = fs::read(base.join(path)).with_context(|| format!("reading {path}"))?;
        let file = history.files.get(*id).context("no such file")?;
        if let Some(objection) = file.admissible(reached).objection(&content) {
            bail!("{path} (file {id}), with the names of operation {reached} of {}: {objection}", history.operations());
        }
    }
    Ok(reached)
}

fn survey(base: &Path) -> Result<BTreeMap<String, Found>> {
    let mut found = BTreeMap::new();
    if !base.exists() {
        return Ok(found);
    }
    let mut ahead = vec![String::new()];
    while let Some(path) = ahead.pop() {
        let full = base.join(&path);
        let meta = fs::symlink_metadata(&full).with_context(|| format!("{path} is listed, but not there"))?;
        let node = if meta.is_dir() {
            for entry in fs::read_dir(&full)? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                ahead.push(if path.is_empty() { name } else { format!("{path}/{name}") });
            }
            Found::Directory
        } else if meta.is_symlink() {
            Found::Symlink(fs::read_link(&full)?.to_string_lossy().into_owned())
        } else {
            Found::File { ino: meta.ino(), mode: meta.mode() & 0o777 }
        };
        ensure!(found.insert(path.clone(), node).is_none(), "{path} is listed twice");
    }
    Ok(found)
}

/// Whether the names found are these, with two names of one file exactly where the model has them.
fn same(found: &BTreeMap<String, Found>, names: &Names, history: &History) -> bool {
    let mut inodes: BTreeMap<Id, u64> = BTreeMap::new();
    let mut files: BTreeMap<u64, Id> = BTreeMap::new();
    found.len() == names.len()
        && found.iter().zip(names).all(|((found_path, found), (path, entry))| {
            found_path == path
                && match (found, entry) {
                    (Found::Directory, Entry::Directory) => true,
                    (Found::Symlink(found), Entry::Symlink(target)) => found == target,
                    (Found::File { ino, mode }, Entry::File(id)) => {
                        history.files.get(*id).is_some_and(|file| file.mode == *mode)
                            && inodes.entry(*id).or_insert(*ino) == ino
                            && files.entry(*ino).or_insert(*id) == id
                    }
                    _ => false,
                }
        })
}

/// What is wrong with the names found: the state they are nearest to, and how they differ from it.
fn nearest(found: &BTreeMap<String, Found>, history: &History) -> String {
    let differences = |names: &Names| -> Vec<String> {
        let missing = names.keys().filter(|path| !found.contains_key(*path)).map(|path| format!("-{path}"));
        let extra = found.keys().filter(|path| !names.contains_key(*path)).map(|path| format!("+{path}"));
        missing.chain(extra).collect()
    };
    let states = history.states.iter().enumerate();
    let best = states.map(|(operation, names)| (operation, differences(names))).min_by_key(|(_, list)| list.len());
    let (operation, list) = best.unwrap_or_default();
    format!(
        "the names found are those of no operation from {} (synced) to {}; nearest is {operation}: {:?}",
        history.durable,
        history.operations(),
        list.iter().take(20).collect::<Vec<_>>(),
    )
}
