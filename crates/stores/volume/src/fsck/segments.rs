//! Segments: whether they are there, say what the namespace says, and hold what was written.

use super::found::Found;
use super::namespace::Segments;
use super::references::{Reference, References};
use crate::layout::{DATA, segment_of, segment_path};
use crate::segment::{Directory, ReadError, check_header};
use crate::volume::Volume;
use crate::{Error, FsckReport, Progress, Result};
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStore;
use object_store::path::Path;
use std::collections::{BTreeSet, HashMap, HashSet};
use stoa_meta::{Fix, NewSegment, SegmentId, SegmentUse};
use stoa_vfs::Ino;

/// Segments that are read at once.
const AT_ONCE: usize = 4;

/// What was found in one segment.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) lasting: Vec<String>,
    mendable: Vec<(String, Fix)>,
    pub(super) frames_verified: u64,
}

/// One segment, as it is called and as the records have it.
struct Suspect<'a> {
    id: SegmentId,
    path: Path,
    record: Option<&'a SegmentUse>,
    references: &'a References,
    shared: &'a BTreeSet<Ino>,
}

impl Volume {
    pub(super) async fn check_segments(
        &self,
        segments: &Segments,
        data: bool,
        found: &mut Found,
        report: &mut FsckReport,
        progress: &dyn Progress,
    ) -> Result<()> {
        let sizes = self.segment_sizes().await?;
        let ids = segments.ids();
        let orphans = sizes.keys().filter(|id| !ids.contains(id) && !self.log.is_own(**id)).count();
        report.orphan_segments = orphans.try_into().unwrap_or(u64::MAX);
        report.segments = ids.len().try_into().unwrap_or(u64::MAX);
        let (no_references, not_shared) = (References::default(), BTreeSet::new());
        let suspects = ids.iter().map(|id| Suspect {
            id: *id,
            path: segment_path(*id),
            record: segments.records.get(id),
            references: segments.references.get(id).unwrap_or(&no_references),
            shared: segments.shared.get(id).unwrap_or(&not_shared),
        });
        let checks = suspects.map(|suspect| self.check_segment(suspect, &sizes, data));
        let mut checks = futures::stream::iter(checks).buffer_unordered(AT_ONCE);
        let mut done = 0;
        while let Some(findings) = checks.next().await {
            done += 1;
            progress.step(if data { "verifying data" } else { "checking segments" }, done, report.segments);
            let findings = findings?;
            report.frames_verified += findings.frames_verified;
            findings.lasting.into_iter().for_each(|what| found.lasting(what));
            findings.mendable.into_iter().for_each(|(what, fix)| found.mendable(what, fix));
        }
        Ok(())
    }

    async fn segment_sizes(&self) -> Result<HashMap<SegmentId, u64>> {
        let objects = self.store.list(Some(&Path::from(DATA)));
        let sizes = objects.try_filter_map(async |object| Ok(segment_of(&object.location).map(|id| (id, object.size))));
        sizes.try_collect().await.map_err(|error| Error::store("list the segments", &error))
    }

    async fn check_segment(
        &self,
        suspect: Suspect<'_>,
        sizes: &HashMap<SegmentId, u64>,
        data: bool,
    ) -> Result<Findings> {
        let mut findings = Findings::default();
        let Suspect { id, path, references, .. } = &suspect;
        let Some(size) = sizes.get(id).copied() else {
            if !references.extents.is_empty() {
                findings.lasting.push(format!("{path} is missing; it holds data of {}", references.whose()));
            }
            suspect.check_record(None, &mut findings);
            return Ok(findings);
        };
        let directory = match self.read_checked(*id, path, size).await {
            Ok(directory) => Some(directory),
            Err(ReadError::Corrupt(what)) => {
                let size = suspect.odd_size(size);
                findings.lasting.push(format!("{path}: {what}{size}; it holds data of {}", references.whose()));
                None
            }
            Err(ReadError::Store(error)) => return Err(Error::store("read a segment", &error)),
        };
        let stored = directory.as_ref().map(|directory| NewSegment {
            id: *id,
            stored_bytes: size,
            data_bytes: directory.data_bytes(),
        });
        suspect.check_record(stored, &mut findings);
        let disputed = match &directory {
            Some(directory) => suspect.check_references(directory, &mut findings),
            None => references.extents.iter().collect(),
        };
        if data {
            self.verify_frames(*id, directory.as_ref(), references, &disputed, &mut findings).await?;
        }
        Ok(findings)
    }

    /// The directory of a segment that is whole, as far as can be seen without its frames.
    async fn read_checked(&self, id: SegmentId, path: &Path, size: u64) -> std::result::Result<Directory, ReadError> {
        let store = self.store.as_ref();
        let ((), directory) =
            tokio::try_join!(check_header(store, path, size, id), Directory::read(store, path, size))?;
        directory.check_layout(size)?;
        Ok(directory)
    }
}

impl Suspect<'_> {
    /// Says so if the object does not have the size that the record says.
    fn odd_size(&self, size: u64) -> String {
        match self.record {
            Some(record) if record.segment.stored_bytes != size => {
                format!(", and it has {size} bytes instead of {}", record.segment.stored_bytes)
            }
            _ => String::new(),
        }
    }

    /// Compares the record with what there is. `stored`: what the segment itself says, if it is there and whole.
    fn check_record(&self, stored: Option<NewSegment>, findings: &mut Findings) {
        let id = self.id;
        let live_bytes = self.references.live_bytes;
        let Some(record) = self.record else {
            let what = format!("segment {id} is named by extents, but has no record");
            match stored {
                Some(segment) => findings.mendable.push((what, Fix::Segment(SegmentUse { segment, live_bytes }))),
                // A record would say that the segment is there, or what is in it.
                None => findings.lasting.push(what),
            }
            return;
        };
        let right = SegmentUse { segment: stored.unwrap_or(record.segment), live_bytes };
        let counts = [
            ("live bytes", record.live_bytes, live_bytes),
            ("stored bytes", record.segment.stored_bytes, right.segment.stored_bytes),
            ("bytes of data", record.segment.data_bytes, right.segment.data_bytes),
        ];
        let wrong = counts.iter().filter(|(_, counted, is)| counted != is);
        let wrong: Vec<String> = wrong.map(|(of, counted, is)| format!("{counted} {of}; there are {is}")).collect();
        if !wrong.is_empty() {
            let what = format!("segment {id} counts {}", wrong.join(", and "));
            findings.mendable.push((what, Fix::Segment(right)));
        }
    }

    /// Every frame that an extent names is in the segment's directory, just so; and whoever names it can be found from the segment.
    /// Returns the extents whose frames are not.
    fn check_references<'a>(&'a self, directory: &Directory, findings: &mut Findings) -> Vec<&'a Reference> {
        let path = &self.path;
        let namers: HashSet<Ino> = directory.entries.iter().map(|entry| entry.ino).collect();
        for ino in self.references.inodes().iter().filter(|ino| !namers.contains(ino) && !self.shared.contains(ino)) {
            // The cleaner asks the segment, and these records, who names it.
            let what = format!("{path} holds data of inode {ino}, and nothing says so");
            findings.mendable.push((what, Fix::Shared(self.id, *ino)));
        }
        let disputed: Vec<&Reference> =
            self.references.extents.iter().filter(|reference| frames_of(reference, directory).is_none()).collect();
        for Reference { ino, offset, stored_offset, .. } in &disputed {
            findings
                .lasting
                .push(format!("{path} has no such frames at {stored_offset} as inode {ino} names at offset {offset}"));
        }
        disputed
    }
}

/// The entries of the directory that an extent names, if they are there just so.
pub(super) fn frames_of<'a>(
    reference: &Reference,
    directory: &'a Directory,
) -> Option<&'a [crate::segment::DirectoryEntry]> {
    let first = directory.entries.binary_search_by_key(&reference.stored_offset, |entry| entry.stored_offset).ok()?;
    let entries = directory.entries.get(first..first.checked_add(reference.frames())?)?;
    reference.is_of(entries.iter().map(|entry| &entry.frame)).then_some(entries)
}
