//! Setting right what a check found.

use super::Inner;
use super::names::Changing;
use super::pending::Transaction;
use crate::record::{Inode, RecordKey};
use crate::{Error, Fix, Result, SegmentUse};
use bytes::Bytes;
use std::sync::Arc;
use stoa_vfs::{Caller, Error as FileError, Ino, Kind, Make, Name, Node, Timestamp};

const LOST_AND_FOUND: &str = "lost+found";

impl Inner {
    pub(super) async fn fix_all(self: &Arc<Self>, fixes: &[Fix]) -> Result<()> {
        // Counts first: they are what a scan found, and each file that gets a name changes some of them again.
        let mut unnamed = Vec::new();
        for fix in fixes {
            self.admit().await?;
            match *fix {
                Fix::Links(ino, nlink) => self.fix_inode(ino, |inode| Inode { nlink, ..inode }).await?,
                Fix::Entries(ino, size) => self.fix_inode(ino, |inode| Inode { size, ..inode }).await?,
                Fix::DataBytes(ino, data_bytes) => self.fix_inode(ino, |inode| Inode { data_bytes, ..inode }).await?,
                Fix::Attributes(ino, flags) => self.fix_flags(ino, flags).await?,
                Fix::Segment(segment) => self.fix_segment(&segment),
                Fix::Shared(segment, ino) => {
                    self.fix_record(&RecordKey::Shared(segment, ino), Some(Bytes::from_static(&[1])));
                }
                Fix::NotOrphan(ino) => self.fix_record(&RecordKey::Orphan(ino), None),
                Fix::NextIno(free) => self.pending.skip_inos(free),
                Fix::Totals(totals) => self.pending.set_totals(totals),
                Fix::Unnamed(ino) => unnamed.push(ino),
            }
        }
        if !unnamed.is_empty() {
            let directory = self.lost_and_found().await?;
            for ino in unnamed {
                self.admit().await?;
                self.name_again(ino, directory).await?;
            }
        }
        // What the superblock says changes no record; the commit that follows must have something to write.
        self.apply(Transaction::default());
        Ok(())
    }

    async fn fix_inode(&self, ino: Ino, fix: impl FnOnce(Inode) -> Inode) -> Result<()> {
        let _locked = self.locks.exclusive(&[ino]).await;
        let inode = self.locked_inode(ino).await?;
        let mut changing = Changing::default();
        changing.put_inode(ino, fix((*inode).clone()));
        self.finish(changing);
        Ok(())
    }

    async fn fix_flags(&self, ino: Ino, attributes: u8) -> Result<()> {
        let flags = |flags| (flags & !Inode::ATTRIBUTES) | (attributes & Inode::ATTRIBUTES);
        self.fix_inode(ino, |inode| Inode { flags: flags(inode.flags), ..inode }).await
    }

    /// As if the segment were new, and all its extents too: the commit writes the whole record, with these counts.
    fn fix_segment(&self, known: &SegmentUse) {
        let mut transaction = Transaction::default();
        transaction.add_segment(known.segment);
        transaction.count_live(known.segment.id, i64::try_from(known.live_bytes).unwrap_or(i64::MAX));
        self.apply(transaction);
    }

    fn fix_record(&self, key: &RecordKey, value: Option<Bytes>) {
        let mut transaction = Transaction::default();
        match value {
            Some(value) => transaction.put(key, value),
            None => transaction.remove(key),
        }
        self.apply(transaction);
    }

    async fn lost_and_found(self: &Arc<Self>) -> Result<Ino> {
        let make = Make { node: Node::Directory, mode: 0o700, umask: 0 };
        for number in 0_u64.. {
            let name = numbered(LOST_AND_FOUND, number)?;
            match self.make_named(Caller::ROOT, Ino::ROOT, &name, &make).await {
                Ok(attr) => return Ok(attr.ino),
                Err(Error::File(FileError::Exists)) => {}
                Err(error) => return Err(error),
            }
            let found = self.lookup_name(Ino::ROOT, &name).await?;
            if found.kind == Kind::Directory {
                return Ok(found.ino);
            }
        }
        Err(FileError::NoSpace.into())
    }

    async fn name_again(&self, ino: Ino, directory: Ino) -> Result<()> {
        let _locked = self.locks.exclusive(&[ino, directory]).await;
        let inode = self.locked_inode(ino).await?;
        let is_directory = inode.kind == Kind::Directory;
        let mut changing = Changing::default();
        self.add_free_name(&mut changing, directory, ino, inode.kind).await?;
        let nlink = if is_directory { inode.nlink.max(2) } else { 1 };
        let parent = if is_directory { directory } else { inode.parent };
        changing.transaction.remove(&RecordKey::Orphan(ino));
        changing.put_inode(ino, Inode { nlink, parent, ..(*inode).clone() });
        self.resize(&mut changing, directory, 1, i32::from(is_directory), Timestamp::now()).await?;
        self.finish(changing);
        Ok(())
    }

    /// Names an inode by its number, or by that and another when somebody took the name. The lock of `directory` is held.
    async fn add_free_name(&self, changing: &mut Changing, directory: Ino, ino: Ino, kind: Kind) -> Result<()> {
        for number in 0_u64.. {
            let name = numbered(&ino.to_string(), number)?;
            match self.add_name(changing, directory, &name, ino, kind).await {
                Err(Error::File(FileError::Exists)) => {}
                other => return other,
            }
        }
        Err(FileError::NoSpace.into())
    }
}

/// A name to try: the text itself first, then with a number.
fn numbered(text: &str, number: u64) -> Result<Name> {
    let text = if number == 0 { text.to_owned() } else { format!("{text}.{number}") };
    Ok(Name::new(Bytes::from(text))?)
}

#[cfg(test)]
mod tests;
