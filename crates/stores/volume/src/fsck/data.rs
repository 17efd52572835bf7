//! Segments: whether they are there, say what the namespace says, and hold what was written.

use super::namespace::{Namespace, Reference};
use crate::layout::{DATA, segment_of, segment_path};
use crate::segment::{Directory, DirectoryEntry, decode};
use crate::volume::Volume;
use crate::{Error, FsckReport, Progress, Result};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use std::collections::{HashMap, HashSet};
use stoa_meta::{FrameRef, SegmentId, SegmentUse};
use stoa_vfs::Ino;

/// Segments that are read at once.
const AT_ONCE: usize = 4;

/// What was found in one segment.
#[derive(Debug, Default)]
struct Findings {
    problems: Vec<String>,
    frames_verified: u64,
}

impl Volume {
    pub(super) async fn check_segments(
        &self,
        namespace: &Namespace,
        data: bool,
        report: &mut FsckReport,
        progress: &dyn Progress,
    ) -> Result<()> {
        let sizes = self.segment_sizes().await?;
        let total = u64::try_from(namespace.segments.len()).unwrap_or(u64::MAX);
        let checks = namespace.segments.values().map(|segment| self.check_segment(segment, &sizes, namespace, data));
        let mut checks = futures::stream::iter(checks).buffer_unordered(AT_ONCE);
        let mut done = 0;
        while let Some(findings) = checks.next().await {
            done += 1;
            progress.step(if data { "verifying data" } else { "checking segments" }, done, total);
            let findings = findings?;
            report.frames_verified += findings.frames_verified;
            for what in findings.problems {
                report.problem(what);
            }
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
        segment: &SegmentUse,
        sizes: &HashMap<SegmentId, u64>,
        namespace: &Namespace,
        data: bool,
    ) -> Result<Findings> {
        let id = segment.segment.id;
        let path = segment_path(id);
        let mut findings = Findings::default();
        let references = namespace.references.get(&id).map_or(&[][..], Vec::as_slice);
        match sizes.get(&id) {
            None if segment.live_bytes == 0 => return Ok(findings),
            None => {
                findings.problems.push(format!("{path} is missing; it holds data of {}", whose(references)));
                return Ok(findings);
            }
            Some(size) if *size != segment.segment.stored_bytes => {
                findings.problems.push(format!("{path} has {size} bytes instead of {}", segment.segment.stored_bytes));
                return Ok(findings);
            }
            Some(_) => {}
        }
        match Directory::read(self.store.as_ref(), &path, segment.segment.stored_bytes).await {
            Ok(directory) => {
                let shared = namespace.shared.get(&id).map_or(&[][..], Vec::as_slice);
                check_references(&path, &directory, references, shared, &mut findings);
            }
            Err(crate::segment::ReadError::Corrupt(what)) => {
                findings.problems.push(format!("{path}: {what}; it holds data of {}", whose(references)));
            }
            Err(crate::segment::ReadError::Store(error)) => return Err(Error::store("read a segment", &error)),
        }
        if data {
            self.verify_frames(&path, references, &mut findings).await?;
        }
        Ok(findings)
    }

    /// Reads every frame that an extent names, and checks it.
    async fn verify_frames(&self, path: &Path, references: &[Reference], findings: &mut Findings) -> Result<()> {
        if references.is_empty() {
            return Ok(());
        }
        let object = match self.store.get(path).await {
            Ok(object) => object.bytes().await.map_err(|error| Error::store("read a segment", &error))?,
            Err(error) => return Err(Error::store("read a segment", &error)),
        };
        let mut seen = HashSet::new();
        for reference in references {
            let mut offset = u64::from(reference.run.stored_offset);
            for frame in &reference.run.frames {
                if seen.insert(offset) {
                    findings.frames_verified += 1;
                    if let Err(what) = slice(&object, offset, frame).and_then(|stored| decode(frame, stored)) {
                        findings.problems.push(format!(
                            "{path}: the frame at {offset}, of inode {} near offset {}: {what}",
                            reference.ino, reference.offset
                        ));
                    }
                }
                offset += u64::from(frame.stored_len);
            }
        }
        Ok(())
    }
}

fn slice(object: &Bytes, offset: u64, frame: &FrameRef) -> std::result::Result<Bytes, String> {
    let start = usize::try_from(offset).map_err(|error| error.to_string())?;
    let end = start.saturating_add(usize::try_from(frame.stored_len).map_err(|error| error.to_string())?);
    if end > object.len() {
        return Err("it lies beyond the end of the object".into());
    }
    Ok(object.slice(start..end))
}

/// Every frame that an extent names is in the segment's directory, just so; and whoever names it can be found from the segment.
fn check_references(
    path: &Path,
    directory: &Directory,
    references: &[Reference],
    shared: &[Ino],
    findings: &mut Findings,
) {
    let frames: HashMap<u32, &DirectoryEntry> =
        directory.entries.iter().map(|entry| (entry.stored_offset, entry)).collect();
    let namers: HashSet<Ino> = directory.entries.iter().map(|entry| entry.ino).chain(shared.iter().copied()).collect();
    for reference in references {
        let Reference { ino, offset, run } = reference;
        if !namers.contains(ino) {
            findings.problems.push(format!("{path} holds data of inode {ino}, and does not say so"));
        }
        let mut stored_offset = run.stored_offset;
        for frame in &run.frames {
            if frames.get(&stored_offset).is_none_or(|entry| entry.frame != *frame) {
                findings.problems.push(format!(
                    "{path} has no such frame at {stored_offset} as inode {ino} names at offset {offset}"
                ));
                break;
            }
            stored_offset = stored_offset.saturating_add(frame.stored_len);
        }
    }
}

fn whose(references: &[Reference]) -> String {
    let inodes: std::collections::BTreeSet<u64> = references.iter().map(|reference| reference.ino.0).collect();
    let shown: Vec<String> = inodes.iter().take(10).map(u64::to_string).collect();
    let more = inodes.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("inodes {}{more}", shown.join(", "))
}
