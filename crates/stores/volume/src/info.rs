//! Where a file's bytes are.

use crate::layout::segment_path;
use crate::volume::Volume;
use crate::{ExtentInfo, FileInfo, Result};
use stoa_meta::{Content, Extent};
use stoa_vfs::{Ino, Kind};

/// Extents looked at in one step.
const PAGE: usize = 1024;

impl Volume {
    /// Where the bytes of a file are, as far as they are in the store.
    ///
    /// # Errors
    /// [`crate::Error::Io`] if there is no such inode.
    pub async fn file_info(&self, ino: Ino) -> Result<FileInfo> {
        let attr = self.meta.attr(ino).await?;
        let extents = if attr.kind == Kind::Regular { self.describe_extents(ino).await? } else { Vec::new() };
        let dirty_bytes = self.files.find(ino).map_or(0, |file| file.lock().dirty_bytes());
        Ok(FileInfo {
            ino: ino.0,
            kind: attr.kind.name().into(),
            size: self.seen(attr).await.size,
            links: self.meta.attr(ino).await?.nlink,
            dirty_bytes,
            extents,
        })
    }

    /// A page at a time: an extent says more than is told of it.
    async fn describe_extents(&self, ino: Ino) -> Result<Vec<ExtentInfo>> {
        let (mut described, mut next) = (Vec::new(), 0);
        loop {
            let page = self.meta.extents_from(ino, next, PAGE).await?;
            described.extend(page.iter().map(describe));
            match page.last() {
                Some(last) if page.len() == PAGE => next = last.end(),
                _ => return Ok(described),
            }
        }
    }
}

fn describe(extent: &Extent) -> ExtentInfo {
    let (kind, segment, frames, stored_bytes) = match &extent.content {
        Content::Hole => ("hole", None, 0, 0),
        Content::Inline(_) => ("inline", None, 0, 0),
        Content::Stored(run) => {
            let frames = u64::try_from(run.frames.len()).unwrap_or(u64::MAX);
            ("data", Some(segment_path(run.segment).to_string()), frames, run.stored_len())
        }
    };
    ExtentInfo { offset: extent.offset, len: extent.len, kind, segment, frames, stored_bytes }
}
