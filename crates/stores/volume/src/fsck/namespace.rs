//! What the records say, and whether they agree.

use crate::FsckReport;
use std::collections::{BTreeMap, HashMap};
use stoa_meta::{Content, Extent, Fix, Run, SegmentId, SegmentUse, Totals, Visit};
use stoa_vfs::{Attr, Ino, Kind, Name};

/// An inode, and what was counted for it.
#[derive(Debug)]
struct Node {
    attr: Attr,
    parent: Ino,
    orphan: bool,
    /// Names that name it.
    names: u32,
    /// For a directory: entries, and how many of them are directories.
    entries: u64,
    directories: u32,
    /// Bytes of extents that are not holes, and where the last extent ends.
    data_bytes: u64,
    covered: u64,
    gap: Option<u64>,
}

/// An extent that lies in a segment.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) ino: Ino,
    pub(super) offset: u64,
    pub(super) run: Run,
}

/// Everything a check needs to know of the namespace.
#[derive(Debug, Default)]
pub(super) struct Namespace {
    nodes: BTreeMap<Ino, Node>,
    names: Vec<(Ino, Name, Ino, Kind)>,
    pub(super) segments: BTreeMap<SegmentId, SegmentUse>,
    pub(super) references: BTreeMap<SegmentId, Vec<Reference>>,
    pub(super) shared: HashMap<SegmentId, Vec<Ino>>,
    live: BTreeMap<SegmentId, u64>,
    totals: Totals,
    extents: u64,
    bad: Vec<String>,
}

impl Visit for Namespace {
    fn inode(&mut self, attr: &Attr, parent: Ino, orphan: bool) {
        let node = Node {
            attr: attr.clone(),
            parent,
            orphan,
            names: 0,
            entries: 0,
            directories: 0,
            data_bytes: 0,
            covered: 0,
            gap: None,
        };
        self.nodes.insert(attr.ino, node);
    }

    fn dentry(&mut self, parent: Ino, name: &Name, ino: Ino, kind: Kind) {
        self.names.push((parent, name.clone(), ino, kind));
    }

    fn extent(&mut self, ino: Ino, extent: &Extent) {
        self.extents += 1;
        if let Content::Stored(run) = &extent.content {
            *self.live.entry(run.segment).or_default() += extent.len;
            self.references.entry(run.segment).or_default().push(Reference {
                ino,
                offset: extent.offset,
                run: run.clone(),
            });
        }
        match self.nodes.get_mut(&ino) {
            Some(node) => {
                if extent.offset != node.covered {
                    node.gap.get_or_insert(node.covered.min(extent.offset));
                }
                node.covered = extent.end();
                node.data_bytes += extent.data_bytes();
            }
            None => self
                .bad
                .push(format!("an extent at offset {} belongs to inode {ino}, which does not exist", extent.offset)),
        }
    }

    fn segment(&mut self, segment: &SegmentUse) {
        self.segments.insert(segment.segment.id, *segment);
    }

    fn shared(&mut self, segment: SegmentId, ino: Ino) {
        self.shared.entry(segment).or_default().push(ino);
    }

    fn totals(&mut self, totals: Totals) {
        self.totals = totals;
    }

    fn bad(&mut self, what: String) {
        self.bad.push(what);
    }
}

impl Namespace {
    /// Reports what does not agree; returns what can be set right, with the number of the problem that it mends.
    pub(super) fn check(&mut self, report: &mut FsckReport) -> Vec<(usize, Fix)> {
        report.inodes = self.nodes.len().try_into().unwrap_or(u64::MAX);
        report.dentries = self.names.len().try_into().unwrap_or(u64::MAX);
        report.extents = self.extents;
        report.segments = self.segments.len().try_into().unwrap_or(u64::MAX);
        for what in std::mem::take(&mut self.bad) {
            report.problem(what);
        }
        self.count_names(report);
        let mut fixes = Vec::new();
        for (ino, node) in &self.nodes {
            check_links(*ino, node, report, &mut fixes);
            check_extents(*ino, node, report, &mut fixes);
        }
        self.check_live(report, &mut fixes);
        self.check_totals(report, &mut fixes);
        fixes
    }

    fn count_names(&mut self, report: &mut FsckReport) {
        for (parent, name, ino, kind) in std::mem::take(&mut self.names) {
            match self.nodes.get_mut(&ino) {
                Some(node) => {
                    node.names += 1;
                    if node.attr.kind != kind {
                        report.problem(format!(
                            "{name:?} in directory {parent} says that inode {ino} is {kind:?}; it is {:?}",
                            node.attr.kind
                        ));
                    }
                    if kind == Kind::Directory && node.parent != parent {
                        report.problem(format!(
                            "directory {ino} is in directory {parent}, but says it is in {}",
                            node.parent
                        ));
                    }
                }
                None => drop(
                    report.problem(format!("{name:?} in directory {parent} names inode {ino}, which does not exist")),
                ),
            }
            match self.nodes.get_mut(&parent) {
                Some(node) if node.attr.kind == Kind::Directory => {
                    node.entries += 1;
                    node.directories += u32::from(kind == Kind::Directory);
                }
                _ => drop(report.problem(format!("{name:?} is in inode {parent}, which is no directory"))),
            }
        }
    }

    fn check_live(&self, report: &mut FsckReport, fixes: &mut Vec<(usize, Fix)>) {
        for (id, segment) in &self.segments {
            let live = self.live.get(id).copied().unwrap_or(0);
            if live != segment.live_bytes {
                let what = format!("segment {id} counts {} live bytes; its extents have {live}", segment.live_bytes);
                fixes.push((report.problem(what), Fix::Live(*id, live)));
            }
        }
        for id in self.live.keys().filter(|id| !self.segments.contains_key(id)) {
            report.problem(format!("segment {id} is named by extents, but has no record"));
        }
    }

    fn check_totals(&self, report: &mut FsckReport, fixes: &mut Vec<(usize, Fix)>) {
        let counted =
            Totals { data_bytes: self.nodes.values().map(|node| node.data_bytes).sum(), inodes: report.inodes };
        if counted != self.totals {
            let what = format!("the volume counts {:?}; there are {counted:?}", self.totals);
            fixes.push((report.problem(what), Fix::Totals(counted)));
        }
    }
}

fn check_links(ino: Ino, node: &Node, report: &mut FsckReport, fixes: &mut Vec<(usize, Fix)>) {
    let attr = &node.attr;
    let directory = attr.kind == Kind::Directory;
    if ino != Ino::ROOT && node.names == 0 && !node.orphan {
        let what = format!("inode {ino} has no name");
        fixes.push((report.problem(what), Fix::Unnamed(ino)));
        return;
    }
    if directory && ino != Ino::ROOT && node.names > 1 {
        report.problem(format!("directory {ino} has {} names", node.names));
    }
    let links = match (directory, node.names) {
        (true, 0) if ino != Ino::ROOT => 0,
        (true, _) => 2 + node.directories,
        (false, names) => names,
    };
    if attr.nlink != links {
        let what = format!("inode {ino} counts {} links; it has {links}", attr.nlink);
        fixes.push((report.problem(what), Fix::Links(ino, links)));
    }
    if directory && attr.size != node.entries {
        let what = format!("directory {ino} counts {} entries; it has {}", attr.size, node.entries);
        fixes.push((report.problem(what), Fix::Entries(ino, node.entries)));
    }
    if node.orphan && attr.nlink > 0 {
        report.problem(format!("inode {ino} has a name, but waits to be removed"));
    }
}

fn check_extents(ino: Ino, node: &Node, report: &mut FsckReport, fixes: &mut Vec<(usize, Fix)>) {
    let attr = &node.attr;
    if attr.kind != Kind::Regular {
        if node.covered > 0 {
            report.problem(format!("inode {ino} is {:?}, and has extents", attr.kind));
        }
        return;
    }
    if let Some(gap) = node.gap {
        report.problem(format!("inode {ino} has neither data nor a hole at offset {gap}"));
    } else if node.covered != attr.size {
        report.problem(format!("inode {ino} is {} bytes long; its extents end at {}", attr.size, node.covered));
    }
    if attr.blocks != node.data_bytes.div_ceil(512) {
        let what = format!("inode {ino} counts {} blocks; its extents have {} bytes", attr.blocks, node.data_bytes);
        fixes.push((report.problem(what), Fix::DataBytes(ino, node.data_bytes)));
    }
}
