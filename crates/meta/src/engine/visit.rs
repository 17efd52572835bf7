//! Showing every record, for a check.

mod form;

use super::Inner;
use super::read::successor;
use super::segments::segment_use;
use super::xattrs::flag;
use crate::record::{Bucket, Inode, Key, Malformed, RecordKey, SegmentRecord, Superblock, decode_extent};
use crate::{Result, Visit};
use bytes::Bytes;
use std::sync::Arc;

/// The kinds of records, in the order in which they are shown, and how many are read at a time: a page must fit into memory, and
/// attributes can be 64 KiB long.
const KINDS: [(u8, usize); 8] =
    [(b'o', 4096), (b'i', 4096), (b'x', 64), (b'd', 4096), (b'e', 4096), (b's', 4096), (b'r', 4096), (b't', 1)];

impl Inner {
    /// Shows the state of the last commit; changes that are made meanwhile are not seen.
    pub(super) async fn visit_all(self: &Arc<Self>, visit: &mut dyn Visit) -> Result<()> {
        self.commit_all().await?;
        let _nothing_goes = self.visiting.read().await;
        let snapshot = {
            let _no_commit = self.committing.lock().await;
            self.kv.snapshot()?
        };
        for (kind, page_len) in KINDS {
            let (mut start, end) = RecordKey::all_of(kind);
            loop {
                let page = snapshot.scan(start.clone()..end.clone(), page_len).await?;
                let Some((last, _)) = page.last() else { break };
                start = successor(last);
                for (key, value) in page {
                    self.show(visit, &key, value);
                }
            }
        }
        Ok(())
    }

    fn show(&self, visit: &mut dyn Visit, key: &Key, value: Bytes) {
        if let Err(error) = self.try_show(visit, key, value) {
            visit.unreadable(format!("record with key {}: {error}", key.escape_ascii()));
        }
    }

    fn try_show(&self, visit: &mut dyn Visit, key: &Key, value: Bytes) -> std::result::Result<(), Malformed> {
        match RecordKey::decode(key)? {
            RecordKey::Orphan(ino) => visit.orphan(ino),
            RecordKey::Inode(ino) => visit.inode(ino, &Inode::decode(value)?),
            RecordKey::Xattr(ino, name) => {
                visit.xattr(ino, &name, Inode::XATTR | flag(&name));
                form::check_xattr(ino, &name, &value, &mut |what| visit.wrong(what));
            }
            RecordKey::Bucket(parent, hash) => {
                let bucket = Bucket::decode(value)?;
                for dentry in &bucket.dentries {
                    visit.dentry(parent, &dentry.name, dentry.ino, dentry.kind);
                }
                form::check_bucket(parent, &bucket, |name| self.hash(name) == hash, &mut |what| visit.wrong(what));
            }
            RecordKey::Extent(ino, end) => visit.extent(ino, &decode_extent(end, value)?),
            RecordKey::Segment(segment) => visit.segment(&segment_use(segment, &SegmentRecord::decode(value)?)),
            RecordKey::Shared(segment, ino) => visit.shared(segment, ino),
            RecordKey::Superblock => visit.superblock(&Superblock::decode(value)?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
