//! [`Vfs`] by objects.

use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::found::Target;
use crate::inodes::Node;
use crate::listing::Scan;
use crate::moves::Work;
use async_trait::async_trait;
use bytes::Bytes;
use std::sync::Arc;
use stoa_vfs::{
    Allocate, Attr, CachePolicy, Caller, Cookie, DirEntry, DirPage, Entry, Error, Handle, Ino, Make, Name, OpenFlags,
    RenameMode, Result, Seek, SetAttr, StatFs, Vfs, WriteFlags, XattrMode,
};
use tokio::time::Instant;

/// Bytes that `df` shows as the size of a store without a limit: 1 EiB, as much as programs that count in signed 64 bits bear well.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Inodes that can be made, for the same purpose.
const UNLIMITED_INODES: u64 = 1 << 48;

impl Bucket {
    /// The inode of a directory, and what is in it.
    pub(crate) fn directory(&self, ino: Ino) -> Result<(Arc<Node>, Directory)> {
        let node = self.inodes.get(ino)?;
        let directory = match node.target() {
            Target::Directory(directory) => directory,
            Target::Object(_) => return Err(Error::NotDirectory),
        };
        Ok((node, directory))
    }

    /// The entry of a name that was read in a pass, if nothing was changed about it since. Without one the kernel looks the
    /// name up.
    fn unless_changed(&self, scan: &Scan, name: &Name, entry: Option<Entry>) -> Option<Entry> {
        let entry = entry?;
        // Looked at after the entry was made, as in a look at a single name.
        if scan.knows(name) {
            return Some(entry);
        }
        self.inodes.forget(entry.attr.ino, 1);
        None
    }
}

#[async_trait]
impl Vfs for Bucket {
    fn cache_policy(&self) -> CachePolicy {
        let ttl_ms = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        CachePolicy { exclusive: false, content_stays: true, ttl_ms, read_only: self.read_only }
    }

    fn has_acls(&self) -> bool {
        false
    }

    async fn lookup(&self, parent: Ino, name: &Name) -> Result<Entry> {
        let _looking = self.begin(Work::Look, &[(parent, Some(name))]).await?;
        let (node, directory) = self.directory(parent)?;
        loop {
            let asked = Instant::now();
            let found = self.find(&node, &directory, name).await?;
            // A file that was stored just now is to be found as that.
            let Some(entry) = self.inodes.refer(&found) else { continue };
            // Looked at after that: what is stored is forgotten first, and then has its inode.
            if !self.recent.is_forgotten_since(&directory, name, asked) {
                return Ok(entry);
            }
            self.inodes.forget(entry.attr.ino, 1);
        }
    }

    async fn entry(&self, ino: Ino) -> Result<Entry> {
        self.inodes.again(ino)
    }

    fn forget(&self, ino: Ino, count: u64) {
        self.inodes.forget(ino, count);
    }

    async fn parent(&self, ino: Ino) -> Result<Ino> {
        let (_, directory) = self.directory(ino)?;
        let parent = directory.parent().filter(|_| directory != *self.root());
        Ok(parent.map_or(ino, |parent| self.inodes.number(&Target::Directory(parent))))
    }

    async fn getattr(&self, ino: Ino) -> Result<Attr> {
        // What a number stands for does not change; whether its name still stands for it is asked by name.
        Ok(self.inodes.get(ino)?.attr())
    }

    async fn setattr(&self, ino: Ino, set: &SetAttr) -> Result<Attr> {
        self.check_writable()?;
        let _changing = self.begin(Work::Change, &[(ino, None)]).await?;
        let node = self.inodes.get(ino)?;
        match node.target() {
            Target::Directory(directory) => self.change_directory(&node, &directory, set).await?,
            Target::Object(_) => self.change(&node, set).await?,
        }
        Ok(node.attr())
    }

    async fn readlink(&self, ino: Ino) -> Result<Bytes> {
        self.read_link(ino).await
    }

    async fn make(&self, caller: Caller, parent: Ino, name: &Name, make: &Make) -> Result<Entry> {
        self.check_writable()?;
        let _changing = self.begin(Work::Change, &[(parent, Some(name))]).await?;
        let (node, directory) = self.directory(parent)?;
        self.make_in(caller, &node, &directory, name, make).await
    }

    async fn make_unnamed(&self, _: Caller, _: Ino, _: &Make) -> Result<Entry> {
        self.check_writable()?;
        Err(Error::Unsupported("objects without a name"))
    }

    async fn link(&self, _: Ino, _: Ino, _: &Name) -> Result<Entry> {
        self.check_writable()?;
        Err(Error::Unsupported("hard links of objects"))
    }

    async fn unlink(&self, parent: Ino, name: &Name) -> Result<()> {
        self.check_writable()?;
        let _changing = self.begin(Work::Change, &[(parent, Some(name))]).await?;
        let (node, directory) = self.directory(parent)?;
        self.unlink_in(&node, &directory, name).await
    }

    async fn rmdir(&self, parent: Ino, name: &Name) -> Result<()> {
        self.check_writable()?;
        let _changing = self.begin(Work::Change, &[(parent, Some(name))]).await?;
        let (node, directory) = self.directory(parent)?;
        self.rmdir_in(&node, &directory, name).await
    }

    async fn rename(&self, parent: Ino, name: &Name, to: Ino, new_name: &Name, mode: RenameMode) -> Result<()> {
        self.check_writable()?;
        self.rename_in((parent, name), (to, new_name), mode).await
    }

    async fn readdir(&self, dir: Ino, after: Cookie, count: usize, attributes: bool) -> Result<DirPage> {
        let _looking = self.begin(Work::Look, &[(dir, None)]).await?;
        let (node, directory) = self.directory(dir)?;
        let (scan, mut place) = node.listing.resume(after, self.ttl)?;
        loop {
            // After what is in the store come the files that are not there yet.
            let beyond = scan.is_beyond(place.page);
            let page = match beyond {
                true => Arc::new(self.drafts_in(&directory)),
                false => self.page(&directory, &scan, place.page, None).await?,
            };
            let rest = page.after(place.hash);
            if rest.is_empty() && !beyond {
                (place.page, place.hash) = (place.page + 1, 0);
                continue;
            }
            let mut entries = Vec::with_capacity(rest.len().min(count));
            for listed in rest.iter().take(count) {
                let cookie = scan.cookie(place.page, listed.hash)?;
                let entry = attributes.then(|| self.inodes.refer(&listed.found)).flatten();
                let entry = self.unless_changed(&scan, &listed.name, entry);
                let ino =
                    entry.as_ref().map_or_else(|| self.inodes.number(&listed.found.target), |entry| entry.attr.ino);
                entries.push(DirEntry { name: listed.name.clone(), ino, kind: listed.found.looks.kind, cookie, entry });
            }
            let end = beyond && entries.len() == rest.len();
            return Ok(DirPage { entries, end });
        }
    }

    async fn open(&self, ino: Ino, flags: OpenFlags) -> Result<Handle> {
        let work = if flags.write || flags.truncate { Work::Change } else { Work::Look };
        if work == Work::Change {
            self.check_writable()?;
        }
        let _opening = self.begin(work, &[(ino, None)]).await?;
        let open = self.open_object(ino, flags)?;
        match flags.write {
            true => self.begin_writing(&open.node, flags).await?,
            false => self.make_sure(&open.node).await?,
        }
        Ok(self.handles.add(open))
    }

    async fn flush(&self, _: Ino, handle: Handle) -> Result<()> {
        let open = self.handles.get(handle)?;
        if open.writable { self.publish_filled(&open.node).await } else { Ok(()) }
    }

    async fn release(&self, _: Ino, handle: Handle) {
        if let Some(open) = self.handles.remove(handle).filter(|open| open.writable) {
            self.end_writing(&open).await;
        }
    }

    async fn read(&self, _: Ino, handle: Handle, offset: u64, size: usize) -> Result<Vec<Bytes>> {
        let open = self.handles.get(handle)?;
        loop {
            let before = open.node.target();
            match self.read_open(&open, offset, size).await {
                // It was renamed meanwhile, and is there under its new key.
                Err(Error::Stale) if open.node.target() != before => self.inodes.is_there(&open.node.target()),
                read => return read,
            }
        }
    }

    async fn write(&self, _: Ino, handle: Handle, offset: u64, data: Bytes, how: WriteFlags) -> Result<()> {
        let open = self.handles.get(handle)?;
        self.write_open(&open, offset, data, how).await
    }

    async fn fsync(&self, ino: Ino) -> Result<()> {
        let node = self.inodes.get(ino)?;
        self.publish(&node).await
    }

    async fn sync(&self) -> Result<()> {
        self.publish_all(|_| true).await
    }

    async fn fallocate(&self, ino: Ino, offset: u64, len: u64, how: Allocate) -> Result<()> {
        self.check_writable()?;
        let node = self.inodes.get(ino)?;
        self.allocate(&node, offset, len, how).await
    }

    async fn seek(&self, ino: Ino, offset: u64, what: Seek) -> Result<u64> {
        let size = self.inodes.get(ino)?.attr().size;
        match what {
            _ if offset >= size => Err(Error::NoOffset),
            Seek::Data => Ok(offset),
            Seek::Hole => Ok(size),
        }
    }

    async fn copy_range(&self, ino: Ino, offset: u64, to: Ino, to_offset: u64, len: u64) -> Result<u64> {
        self.check_writable()?;
        let _changing = self.begin(Work::Change, &[(ino, None), (to, None)]).await?;
        let (from, to) = (self.inodes.get(ino)?, self.inodes.get(to)?);
        if offset >= from.attr().size {
            return Ok(0);
        }
        self.copy_file(&from, offset, &to, to_offset, len).await
    }

    async fn getxattr(&self, ino: Ino, name: &[u8]) -> Result<Bytes> {
        let node = self.inodes.get(ino)?;
        self.attribute(&node, name).await
    }

    async fn listxattr(&self, ino: Ino) -> Result<Vec<Bytes>> {
        let node = self.inodes.get(ino)?;
        self.attributes(&node).await
    }

    async fn setxattr(&self, ino: Ino, name: &[u8], value: Bytes, mode: XattrMode, _: bool) -> Result<()> {
        self.check_writable()?;
        let _changing = self.begin(Work::Change, &[(ino, None)]).await?;
        let node = self.inodes.get(ino)?;
        self.set_attribute(&node, name, Some(&value), mode).await
    }

    async fn removexattr(&self, ino: Ino, name: &[u8]) -> Result<()> {
        self.check_writable()?;
        let _changing = self.begin(Work::Change, &[(ino, None)]).await?;
        let node = self.inodes.get(ino)?;
        self.set_attribute(&node, name, None, XattrMode::Replace).await
    }

    async fn statfs(&self) -> Result<StatFs> {
        let inodes_used = self.inodes.count();
        Ok(StatFs {
            bytes_total: UNLIMITED_BYTES,
            bytes_free: UNLIMITED_BYTES,
            inodes_used,
            inodes_free: UNLIMITED_INODES,
        })
    }
}
