//! What is known of segments.

use super::Inner;
use super::names::Changing;
use super::read::bad;
use crate::record::{RecordKey, SegmentRecord};
use crate::{Error, NewSegment, Result, SegmentId, SegmentUse};
use std::sync::Arc;
use stoa_vfs::Ino;

impl Inner {
    /// All segments as the last commit left them.
    pub(super) async fn all_segments(&self) -> Result<Vec<SegmentUse>> {
        let _no_commit = self.committing.lock().await;
        let (start, end) = RecordKey::all_of(b's');
        let mut segments = Vec::new();
        for (key, value) in self.kv.scan(start..end, usize::MAX).await? {
            let Ok(RecordKey::Segment(id)) = RecordKey::decode(&key) else {
                return Err(Error::Corrupt("another kind of record among segments".into()));
            };
            let record =
                SegmentRecord::decode(value).map_err(|error| Error::Corrupt(format!("segment {id}: {error}")))?;
            segments.push(segment_use(id, &record));
        }
        Ok(segments)
    }

    pub(super) async fn sharers_of(&self, segment: SegmentId) -> Result<Vec<Ino>> {
        let (start, end) = RecordKey::all_about(b'r', segment.0);
        let mut inodes = Vec::new();
        self.scan_all(start..end, |key, _| {
            if let RecordKey::Shared(_, ino) =
                RecordKey::decode(&key).map_err(|error| bad("sharing", Ino(0), &error))?
            {
                inodes.push(ino);
            }
            Ok(())
        })
        .await?;
        Ok(inodes)
    }

    pub(super) async fn all_orphans(&self) -> Result<Vec<Ino>> {
        let (start, end) = RecordKey::all_of(b'o');
        let mut inodes = Vec::new();
        self.scan_all(start..end, |key, _| {
            if let RecordKey::Orphan(ino) = RecordKey::decode(&key).map_err(|error| bad("orphan", Ino(0), &error))? {
                inodes.push(ino);
            }
            Ok(())
        })
        .await?;
        Ok(inodes)
    }

    pub(super) async fn drop_segments(self: &Arc<Self>, segments: &[SegmentId]) -> Result<()> {
        self.admit().await?;
        let mut changing = Changing::default();
        for segment in segments {
            for ino in self.sharers_of(*segment).await? {
                changing.transaction.remove(&RecordKey::Shared(*segment, ino));
            }
            changing.transaction.forget_segment(*segment);
        }
        self.finish(changing);
        Ok(())
    }
}

pub(super) fn segment_use(id: SegmentId, record: &SegmentRecord) -> SegmentUse {
    SegmentUse {
        segment: NewSegment { id, stored_bytes: record.stored_bytes, data_bytes: record.data_bytes },
        live_bytes: record.live_bytes,
    }
}
