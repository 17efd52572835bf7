//! Showing every record, for a check.

use super::Inner;
use super::read::successor;
use super::segments::segment_use;
use crate::record::{Bucket, Inode, Key, RecordKey, SegmentRecord, Superblock, decode_extent};
use crate::{Result, Totals, Visit};
use bytes::Bytes;
use std::collections::HashSet;
use std::sync::Arc;
use stoa_vfs::Ino;

/// Records read at a time.
const PAGE: usize = 4096;

impl Inner {
    /// Shows the state of the last commit; changes that are made meanwhile are not seen.
    pub(super) async fn visit_all(self: &Arc<Self>, visit: &mut dyn Visit) -> Result<()> {
        self.commit_all().await?;
        let snapshot = {
            let _no_commit = self.committing.lock().await;
            self.kv.snapshot()?
        };
        let mut orphans = HashSet::new();
        for kind in [b'o', b'i', b'd', b'e', b's', b'r', b't'] {
            let (mut start, end) = RecordKey::all_of(kind);
            loop {
                let page = snapshot.scan(start.clone()..end.clone(), PAGE).await?;
                let Some((last, _)) = page.last() else { break };
                start = successor(last);
                for (key, value) in page {
                    show(visit, &mut orphans, &key, value);
                }
            }
        }
        Ok(())
    }
}

fn show(visit: &mut dyn Visit, orphans: &mut HashSet<Ino>, key: &Key, value: Bytes) {
    if let Err(error) = try_show(visit, orphans, key, value) {
        visit.bad(format!("record with key {}: {error}", key.escape_ascii()));
    }
}

fn try_show(
    visit: &mut dyn Visit,
    orphans: &mut HashSet<Ino>,
    key: &Key,
    value: Bytes,
) -> std::result::Result<(), crate::record::Malformed> {
    match RecordKey::decode(key)? {
        RecordKey::Orphan(ino) => drop(orphans.insert(ino)),
        RecordKey::Inode(ino) => {
            let inode = Inode::decode(value)?;
            visit.inode(&inode.attr(ino), inode.parent, orphans.contains(&ino));
        }
        RecordKey::Bucket(parent, _) => {
            for dentry in Bucket::decode(value)?.dentries {
                visit.dentry(parent, &dentry.name, dentry.ino, dentry.kind);
            }
        }
        RecordKey::Extent(ino, end) => visit.extent(ino, &decode_extent(end, value)?),
        RecordKey::Segment(segment) => visit.segment(&segment_use(segment, &SegmentRecord::decode(value)?)),
        RecordKey::Shared(segment, ino) => visit.shared(segment, ino),
        RecordKey::Superblock => {
            let superblock = Superblock::decode(value)?;
            visit.totals(Totals { data_bytes: superblock.data_bytes, inodes: superblock.inodes });
        }
        RecordKey::Xattr(..) => {}
    }
    Ok(())
}
