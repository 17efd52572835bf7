//! Frames: whether those that extents name hold what was written (`--data`).

use super::references::{Reference, References};
use super::segments::{Findings, frames_of};
use crate::layout::segment_path;
use crate::segment::{Directory, decode};
use crate::volume::Volume;
use crate::{Error, Result};
use bytes::Bytes;
use object_store::ObjectStoreExt;
use std::collections::{BTreeSet, HashSet};
use stoa_meta::{Content, FrameRef, SegmentId};
use stoa_vfs::Ino;

/// A segment, whole in memory, and what of it was looked at.
struct Verifying<'a> {
    id: SegmentId,
    object: Bytes,
    seen: HashSet<(u64, u64)>,
    findings: &'a mut Findings,
}

impl Volume {
    /// Reads every frame that an extent names, and checks it. `disputed`: extents whose frames the directory does not have; they are
    /// read as the extents have them, so that it is known which files can be read all the same.
    pub(super) async fn verify_frames(
        &self,
        id: SegmentId,
        directory: Option<&Directory>,
        references: &References,
        disputed: &[&Reference],
        findings: &mut Findings,
    ) -> Result<()> {
        if references.extents.is_empty() {
            return Ok(());
        }
        let cannot = |error: object_store::Error| Error::store("read a segment", &error);
        let object = self.store.get(&segment_path(id)).await.map_err(cannot)?.bytes().await.map_err(cannot)?;
        let mut verifying = Verifying { id, object, seen: HashSet::new(), findings };
        if let Some(directory) = directory {
            for reference in &references.extents {
                for entry in frames_of(reference, directory).unwrap_or_default() {
                    verifying.verify(reference.ino, reference.offset, u64::from(entry.stored_offset), &entry.frame);
                }
            }
        }
        let disputed: BTreeSet<Ino> = disputed.iter().map(|reference| reference.ino).collect();
        for ino in disputed {
            self.verify_extents(ino, &mut verifying).await;
        }
        Ok(())
    }

    /// Checks the frames that the extents of a file name in a segment.
    async fn verify_extents(&self, ino: Ino, verifying: &mut Verifying<'_>) {
        let extents = match self.meta.extents(ino, 0..u64::MAX).await {
            Ok(extents) => extents,
            Err(error) => {
                let path = segment_path(verifying.id);
                verifying
                    .findings
                    .lasting
                    .push(format!("the data of inode {ino} in {path} can't be verified: {error}"));
                return;
            }
        };
        for extent in extents {
            let Content::Stored(run) = &extent.content else { continue };
            if run.segment != verifying.id {
                continue;
            }
            let mut at = u64::from(run.stored_offset);
            for frame in &run.frames {
                verifying.verify(ino, extent.offset, at, frame);
                at += u64::from(frame.stored_len);
            }
        }
    }
}

impl Verifying<'_> {
    /// Checks a frame, unless that was done: many extents can name it. Where extents disagree, each is right or wrong by itself.
    fn verify(&mut self, ino: Ino, offset: u64, at: u64, frame: &FrameRef) {
        if !self.seen.insert((at, frame.checksum)) {
            return;
        }
        self.findings.frames_verified += 1;
        if let Err(what) = slice(&self.object, at, frame).and_then(|stored| decode(frame, stored)) {
            let path = segment_path(self.id);
            self.findings
                .lasting
                .push(format!("{path}: the frame at {at}, of inode {ino} near offset {offset}: {what}"));
        }
    }
}

fn slice(object: &Bytes, at: u64, frame: &FrameRef) -> std::result::Result<Bytes, String> {
    let start = usize::try_from(at).map_err(|error| error.to_string())?;
    let end = start.saturating_add(usize::try_from(frame.stored_len).map_err(|error| error.to_string())?);
    if end > object.len() {
        return Err("it lies beyond the end of the object".into());
    }
    Ok(object.slice(start..end))
}
