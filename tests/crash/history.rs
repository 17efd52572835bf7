//! What was done, and what it means: the model of a tree of files and the states it went through.
//!
//! The namespace is kept whole after every operation, because what is found must be one of these. File contents are not
//! ordered with it (data is written back when it pleases), so a file keeps its writes, and which of them must be there.

use std::collections::BTreeMap;

/// Numbers an inode of the model.
pub(crate) type Id = usize;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A directory.
    Directory,
    /// A symlink to this.
    Symlink(String),
    /// A name of a file; its permission bits tell files apart.
    File(Id),
}

/// Everything there is, by path.
pub(crate) type Names = BTreeMap<String, Entry>;

/// A change to the content of a file.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// Bytes at an offset.
    Write(usize, Vec<u8>),
    /// A new size.
    Truncate(usize),
    /// What came before is durable: for certain, or if the namespace found is that after this operation or a later one.
    Floor {
        /// `None` after an fsync; an operation after a rename over another file, which publishes first.
        if_reached: Option<usize>,
    },
}

/// One file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileHistory {
    /// Its permission bits.
    pub(crate) mode: u32,
    /// What was done to it, in order.
    pub(crate) changes: Vec<Change>,
}

/// Everything that was done.
#[derive(Debug, Clone)]
pub(crate) struct History {
    /// The namespace after each operation; the first is before any.
    pub(crate) states: Vec<Names>,
    /// Every file that ever was.
    pub(crate) files: Vec<FileHistory>,
    /// The state that must be reached at least.
    pub(crate) durable: usize,
}

impl History {
    pub(crate) fn new() -> Self {
        Self { states: vec![Names::new()], files: Vec::new(), durable: 0 }
    }

    /// The present namespace.
    pub(crate) fn now(&self) -> Names {
        self.states.last().cloned().unwrap_or_default()
    }

    /// How many operations changed the namespace.
    pub(crate) fn operations(&self) -> usize {
        self.states.len() - 1
    }

    /// Notes the namespace after one more operation.
    pub(crate) fn push(&mut self, names: Names) {
        self.states.push(names);
    }

    /// Notes that everything so far is durable: the names, and the content of `file`.
    pub(crate) fn synced(&mut self, file: Option<Id>) {
        self.durable = self.operations();
        if let Some(file) = file {
            self.change(file, Change::Floor { if_reached: None });
        }
    }

    /// Notes a change to a file.
    pub(crate) fn change(&mut self, file: Id, change: Change) {
        if let Some(file) = self.files.get_mut(file) {
            file.changes.push(change);
        }
    }
}

/// What the content of a file may be after a crash.
#[derive(Debug, Default)]
pub(crate) struct Admissible {
    /// For every byte, the values that it may have.
    bytes: Vec<Vec<u8>>,
    /// The least and the greatest size.
    sizes: (usize, usize),
}

impl FileHistory {
    /// What may be found, if the namespace found is that after operation `reached`.
    pub(crate) fn admissible(&self, reached: usize) -> Admissible {
        let floor = self.changes.iter().rposition(|change| match change {
            Change::Floor { if_reached } => if_reached.is_none_or(|operation| operation <= reached),
            Change::Write(..) | Change::Truncate(_) => false,
        });
        let (certain, later) = self.changes.split_at(floor.map_or(0, |floor| floor + 1));
        let mut content = Vec::new();
        for change in certain {
            apply(&mut content, change);
        }
        let mut possible = Admissible {
            sizes: (content.len(), content.len()),
            bytes: content.iter().map(|&byte| vec![byte]).collect(),
        };
        for change in later {
            apply(&mut content, change);
            possible.admit(change, content.len());
        }
        possible
    }
}

impl Admissible {
    /// One more change may be there, in whole or in part; `size` is the size after it.
    fn admit(&mut self, change: &Change, size: usize) {
        self.sizes = (self.sizes.0.min(size), self.sizes.1.max(size));
        // A byte that was not there before may be found as a hole.
        while self.bytes.len() < size {
            self.bytes.push(vec![0]);
        }
        match change {
            Change::Write(offset, data) => {
                for (values, &byte) in self.bytes.iter_mut().skip(*offset).zip(data) {
                    values.push(byte);
                }
            }
            // What is cut off may come back as zeros, if the file grows again.
            Change::Truncate(size) => self.bytes.iter_mut().skip(*size).for_each(|values| values.push(0)),
            Change::Floor { .. } => {}
        }
    }

    /// Why `found` is not a content that may be, if it is not.
    pub(crate) fn objection(&self, found: &[u8]) -> Option<String> {
        let (least, greatest) = self.sizes;
        if !(least..=greatest).contains(&found.len()) {
            return Some(format!("{} bytes, not {least} to {greatest}", found.len()));
        }
        let at = found.iter().zip(&self.bytes).position(|(byte, values)| !values.contains(byte))?;
        Some(format!("byte {at} of {} is {:?}, which is none of {:?}", found.len(), found.get(at), self.bytes.get(at)))
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(offset, data) => {
            if content.len() < offset + data.len() {
                content.resize(offset + data.len(), 0);
            }
            if let Some(range) = content.get_mut(*offset..offset + data.len()) {
                range.copy_from_slice(data);
            }
        }
        Change::Truncate(size) => content.resize(*size, 0),
        Change::Floor { .. } => {}
    }
}

#[cfg(test)]
mod tests;
