//! What the records say, and whether they agree.

use super::cover::Cover;
use super::found::Found;
use super::node::Node;
use super::references::{Reference, References};
use super::tree;
use crate::FsckReport;
use std::collections::{BTreeMap, BTreeSet};
use stoa_meta::record::{Inode, Superblock};
use stoa_meta::{Content, Extent, Fix, SegmentId, SegmentUse, Totals, Visit};
use stoa_vfs::{Ino, Kind, Name};

/// What the records say of segments.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// The records of segments.
    pub(super) records: BTreeMap<SegmentId, SegmentUse>,
    /// What extents name.
    pub(super) references: BTreeMap<SegmentId, References>,
    /// Who shares data without being in the segment's directory.
    pub(super) shared: BTreeMap<SegmentId, BTreeSet<Ino>>,
}

impl Segments {
    /// Every segment that there is a record of, or that an extent names.
    pub(super) fn ids(&self) -> BTreeSet<SegmentId> {
        self.records.keys().chain(self.references.keys()).copied().collect()
    }
}

/// Everything a check needs to know of the namespace. Records are checked as they come, so that few of them are kept.
#[derive(Debug, Default)]
pub(super) struct Namespace {
    nodes: BTreeMap<Ino, Node>,
    /// Inodes that wait to be removed, and were not seen yet.
    orphans: BTreeSet<Ino>,
    /// The file whose extents come just now.
    file: Option<(Ino, Cover)>,
    segments: Segments,
    superblock: Option<Superblock>,
    /// The greatest number that any record knows an inode by, whether there is one or not: given out again, that record would be about
    /// the new inode.
    greatest: u64,
    /// Whose attributes belong to no inode.
    stray_attributes: BTreeMap<Ino, u64>,
    dentries: u64,
    extents: u64,
    data_bytes: u64,
    found: Found,
}

impl Visit for Namespace {
    fn orphan(&mut self, ino: Ino) {
        self.knows(ino);
        self.orphans.insert(ino);
    }

    fn inode(&mut self, ino: Ino, inode: &Inode) {
        self.knows(ino);
        self.knows(inode.parent);
        if inode.kind == Kind::Symlink && usize::try_from(inode.size) != Ok(inode.target.len()) {
            let (size, len) = (inode.size, inode.target.len());
            self.found.lasting(format!("symbolic link {ino} is {size} bytes long; its target has {len}"));
        }
        let orphan = self.orphans.remove(&ino);
        self.nodes.insert(ino, Node::new(inode, orphan));
    }

    fn xattr(&mut self, ino: Ino, _: &[u8], flags: u8) {
        self.knows(ino);
        match self.nodes.get_mut(&ino) {
            Some(node) => node.has_attribute(flags),
            None => *self.stray_attributes.entry(ino).or_default() += 1,
        }
    }

    fn dentry(&mut self, parent: Ino, name: &Name, ino: Ino, kind: Kind) {
        self.knows(parent);
        self.knows(ino);
        self.dentries += 1;
        match self.nodes.get_mut(&ino) {
            Some(node) => node.is_named(ino, parent, name, kind, &mut self.found),
            None => {
                self.found.lasting(format!("{name:?} in directory {parent} names inode {ino}, which does not exist"))
            }
        }
        match self.nodes.get_mut(&parent) {
            Some(node) if node.is_directory() => node.holds(kind),
            _ => self.found.lasting(format!("{name:?} is in inode {parent}, which is no directory")),
        }
    }

    fn extent(&mut self, ino: Ino, extent: &Extent) {
        self.knows(ino);
        self.extents += 1;
        self.data_bytes = self.data_bytes.saturating_add(extent.data_bytes());
        if let Content::Stored(run) = &extent.content {
            let references = self.segments.references.entry(run.segment).or_default();
            references.add(Reference::new(ino, extent.offset, run), extent.len);
        }
        if self.file.as_ref().is_none_or(|(file, _)| *file != ino) {
            self.end_file();
            if !self.nodes.contains_key(&ino) {
                self.found.lasting(format!("there are extents of inode {ino}, which does not exist"));
            }
        }
        let (_, cover) = self.file.get_or_insert_with(|| (ino, Cover::default()));
        cover.add(ino, extent, &mut self.found);
    }

    fn segment(&mut self, segment: &SegmentUse) {
        self.segments.records.insert(segment.segment.id, *segment);
    }

    fn shared(&mut self, segment: SegmentId, ino: Ino) {
        self.knows(ino);
        self.segments.shared.entry(segment).or_default().insert(ino);
    }

    fn superblock(&mut self, superblock: &Superblock) {
        self.superblock = Some(*superblock);
    }

    fn unreadable(&mut self, what: String) {
        self.found.incomplete = true;
        self.found.lasting(what);
    }

    fn wrong(&mut self, what: String) {
        self.found.lasting(what);
    }
}

impl Namespace {
    /// Reports what does not agree; returns what is to be compared with the segments themselves.
    pub(super) fn check(mut self, report: &mut FsckReport) -> (Segments, Found) {
        self.end_file();
        report.inodes = self.nodes.len().try_into().unwrap_or(u64::MAX);
        report.dentries = self.dentries;
        report.extents = self.extents;
        for (ino, node) in &self.nodes {
            node.check(*ino, &mut self.found);
            if !node.has_extents {
                Cover::default().check(*ino, node, &mut self.found);
            }
        }
        self.check_root();
        self.check_strays();
        self.check_superblock(report.inodes);
        (self.segments, self.found)
    }

    fn knows(&mut self, ino: Ino) {
        self.greatest = self.greatest.max(ino.0);
    }

    /// All extents of a file were seen.
    fn end_file(&mut self) {
        if let Some((ino, cover)) = self.file.take()
            && let Some(node) = self.nodes.get_mut(&ino)
        {
            node.has_extents = true;
            cover.check(ino, node, &mut self.found);
        }
    }

    fn check_root(&mut self) {
        match self.nodes.get(&Ino::ROOT) {
            Some(root) if root.is_directory() => {
                if root.names == 0 && root.parent != Ino::ROOT {
                    self.found.lasting(format!("the root directory says it is in directory {}", root.parent));
                }
                tree::check(&self.nodes, &mut self.found);
            }
            Some(_) => self.found.lasting("the root is no directory".into()),
            None => self.found.lasting("there is no root directory".into()),
        }
    }

    /// Records that belong to nothing.
    fn check_strays(&mut self) {
        for (ino, count) in &self.stray_attributes {
            self.found.lasting(format!("there are {count} attributes of inode {ino}, which does not exist"));
        }
        for ino in &self.orphans {
            let what = format!("inode {ino} waits to be removed, and does not exist");
            // It may be one that can't be read.
            if self.found.incomplete {
                self.found.lasting(what);
            } else {
                self.found.mendable(what, Fix::NotOrphan(*ino));
            }
        }
        let known = self.segments.ids();
        for segment in self.segments.shared.keys().filter(|segment| !known.contains(segment)) {
            self.found.lasting(format!("segment {segment} is said to be shared, and is not known"));
        }
    }

    fn check_superblock(&mut self, inodes: u64) {
        let Some(superblock) = self.superblock else {
            self.found.lasting("there is no superblock".into());
            return;
        };
        let counts = Totals { data_bytes: superblock.data_bytes, inodes: superblock.inodes };
        let counted = Totals { data_bytes: self.data_bytes, inodes };
        if counted != counts {
            self.found.mendable(format!("the volume counts {counts:?}; there are {counted:?}"), Fix::Totals(counted));
        }
        let (next, greatest) = (superblock.next_ino, self.greatest);
        if next <= greatest {
            let what = format!("the next inode is to be number {next}, but {greatest} is in use");
            match greatest.checked_add(1) {
                Some(free) => self.found.mendable(what, Fix::NextIno(Ino(free))),
                None => self.found.lasting(what),
            }
        }
    }
}
