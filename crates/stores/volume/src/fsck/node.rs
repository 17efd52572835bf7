//! An inode, and what the other records say of it.

use super::found::Found;
use stoa_meta::Fix;
use stoa_meta::record::Inode;
use stoa_vfs::{Ino, Kind, Name};

/// One inode. There is one of these in memory for each inode of the volume.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    flags: u8,
    /// The flags that its attributes ask for.
    attributes: u8,
    /// There is a record that has it wait to be removed.
    orphan: bool,
    /// Extents of it were seen, and checked.
    pub(super) has_extents: bool,
    nlink: u32,
    /// Names that name it.
    pub(super) names: u32,
    /// For a directory: how many of its entries are directories.
    directories: u32,
    pub(super) size: u64,
    pub(super) data_bytes: u64,
    /// For a directory: entries.
    entries: u64,
    /// For a directory: the one that holds it. What the inode says, until a name is seen.
    pub(super) parent: Ino,
}

impl Node {
    pub(super) fn new(inode: &Inode, orphan: bool) -> Self {
        Self {
            kind: inode.kind,
            flags: inode.flags,
            attributes: 0,
            orphan,
            has_extents: false,
            nlink: inode.nlink,
            names: 0,
            directories: 0,
            size: inode.size,
            data_bytes: inode.data_bytes,
            entries: 0,
            parent: inode.parent,
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Hears of an attribute that asks for these flags.
    pub(super) fn has_attribute(&mut self, flags: u8) {
        self.attributes |= flags;
    }

    /// Hears of an entry of this directory.
    pub(super) fn holds(&mut self, kind: Kind) {
        self.entries += 1;
        self.directories += u32::from(kind == Kind::Directory);
    }

    /// Hears of a name that names this inode.
    pub(super) fn is_named(&mut self, ino: Ino, parent: Ino, name: &Name, kind: Kind, found: &mut Found) {
        self.names += 1;
        if self.kind != kind {
            let is = self.kind;
            found.lasting(format!("{name:?} in directory {parent} says that inode {ino} is {kind:?}; it is {is:?}"));
        }
        if self.is_directory() {
            if self.parent != parent {
                let said = self.parent;
                found.lasting(format!("directory {ino} is in directory {parent}, but says it is in {said}"));
            }
            self.parent = parent;
        }
    }

    /// Reports what does not agree, when everything was heard.
    pub(super) fn check(&self, ino: Ino, found: &mut Found) {
        self.check_names(ino, found);
        self.check_links(ino, found);
        self.check_flags(ino, found);
        if self.is_directory() && self.size != self.entries {
            let what = format!("directory {ino} counts {} entries; it has {}", self.size, self.entries);
            found.mendable(what, Fix::Entries(ino, self.entries));
        }
    }

    /// Whether it is where nobody can find it, and is not known to be unwanted: a removal needs an inode without links, and a
    /// directory without entries.
    fn is_lost(&self, ino: Ino) -> bool {
        let unwanted = self.orphan && self.nlink == 0 && self.entries == 0;
        ino != Ino::ROOT && self.names == 0 && !unwanted
    }

    fn check_names(&self, ino: Ino, found: &mut Found) {
        if self.is_lost(ino) {
            found.mendable(format!("inode {ino} has no name"), Fix::Unnamed(ino));
        }
        // The root has none.
        let names_max = u32::from(ino != Ino::ROOT);
        if self.is_directory() && self.names > names_max {
            found.lasting(format!("directory {ino} has {} names", self.names));
        }
        if self.orphan && self.names > 0 {
            let what = format!("inode {ino} has a name, but waits to be removed");
            found.mendable(what, Fix::NotOrphan(ino));
        }
    }

    fn check_links(&self, ino: Ino, found: &mut Found) {
        let lost = self.is_lost(ino);
        if lost && !self.is_directory() {
            // Counted when it gets its name.
            return;
        }
        let links = match (self.is_directory(), self.names) {
            (true, 0) if ino != Ino::ROOT && !lost => 0,
            (true, _) => self.directories.saturating_add(2),
            (false, names) => names,
        };
        if self.nlink != links {
            let what = format!("inode {ino} counts {} links; it has {links}", self.nlink);
            found.mendable(what, Fix::Links(ino, links));
        }
    }

    fn check_flags(&self, ino: Ino, found: &mut Found) {
        let flags = self.flags & Inode::ATTRIBUTES;
        // That one once had attributes may be remembered.
        let expected = self.attributes | (flags & Inode::XATTR);
        if flags != expected {
            let what =
                format!("inode {ino} has flags {flags:#x} of extended attributes; those it has ask for {expected:#x}");
            found.mendable(what, Fix::Attributes(ino, expected));
        }
    }
}
