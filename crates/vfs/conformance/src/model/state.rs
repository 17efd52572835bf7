//! The table of inodes, and who still refers to each.

use super::directory::Directory;
use super::inode::{Body, Inode};
use std::collections::HashMap;
use stoa_vfs::{Entry, Error, Handle, Ino, Result, StatFs};

/// What a handle is open for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) ino: Ino,
    pub(super) write: bool,
}

/// Everything, under the one lock.
pub(super) struct State {
    inodes: HashMap<Ino, Inode>,
    ino_next: u64,
    opens: HashMap<Handle, Open>,
    handle_next: u64,
}

impl State {
    pub(super) fn new() -> Self {
        let root = Inode::new(Body::Directory(Directory::new(Ino::ROOT)), 0o755, 0, 0);
        Self {
            inodes: HashMap::from([(Ino::ROOT, root)]),
            ino_next: Ino::ROOT.0 + 1,
            opens: HashMap::new(),
            handle_next: 1,
        }
    }

    pub(super) fn inode(&self, ino: Ino) -> Result<&Inode> {
        self.inodes.get(&ino).ok_or(Error::Stale)
    }

    pub(super) fn inode_mut(&mut self, ino: Ino) -> Result<&mut Inode> {
        self.inodes.get_mut(&ino).ok_or(Error::Stale)
    }

    pub(super) fn add(&mut self, inode: Inode) -> Ino {
        let ino = Ino(self.ino_next);
        self.ino_next += 1;
        self.inodes.insert(ino, inode);
        ino
    }

    /// Hands out a reference.
    pub(super) fn entry(&mut self, ino: Ino) -> Result<Entry> {
        let inode = self.inode_mut(ino)?;
        inode.references += 1;
        Ok(Entry { attr: inode.attr(ino) })
    }

    pub(super) fn forget(&mut self, ino: Ino, count: u64) {
        if let Ok(inode) = self.inode_mut(ino) {
            inode.references = inode.references.saturating_sub(count);
            self.reap(ino);
        }
    }

    /// Lets an inode go that nothing names, refers to, or has open.
    pub(super) fn reap(&mut self, ino: Ino) {
        let unused = |inode: &Inode| inode.nlink == 0 && inode.references == 0 && inode.handles == 0;
        if self.inodes.get(&ino).is_some_and(unused) {
            self.inodes.remove(&ino);
        }
    }

    pub(super) fn add_handle(&mut self, open: Open) -> Result<Handle> {
        self.inode_mut(open.ino)?.handles += 1;
        let handle = Handle(self.handle_next);
        self.handle_next += 1;
        self.opens.insert(handle, open);
        Ok(handle)
    }

    pub(super) fn handle(&self, ino: Ino, handle: Handle) -> Result<Open> {
        self.opens.get(&handle).copied().filter(|open| open.ino == ino).ok_or(Error::BadHandle)
    }

    pub(super) fn release(&mut self, ino: Ino, handle: Handle) {
        if self.handle(ino, handle).is_err() {
            return;
        }
        self.opens.remove(&handle);
        if let Ok(inode) = self.inode_mut(ino) {
            inode.handles = inode.handles.saturating_sub(1);
        }
        self.reap(ino);
    }

    pub(super) fn statfs(&self) -> StatFs {
        const BYTES_TOTAL: u64 = 1 << 40;
        const INODES_TOTAL: u64 = 1 << 32;
        let bytes_used: u64 = self.inodes.iter().map(|(ino, inode)| inode.attr(*ino).blocks * 512).sum();
        let inodes_used = self.inodes.len() as u64;
        StatFs {
            bytes_total: BYTES_TOTAL,
            bytes_free: BYTES_TOTAL.saturating_sub(bytes_used),
            inodes_used,
            inodes_free: INODES_TOTAL.saturating_sub(inodes_used),
        }
    }
}
