//! Files that are written, from opening them to having them in the store.

use crate::attributes::without_what_is_so;
use crate::bucket::Bucket;
use crate::directory::Directory;
use crate::draft::{Draft, OBJECT_BYTES_MAX, Sink};
use crate::error::told;
use crate::found::{Target, Version};
use crate::inodes::Node;
use crate::metadata;
use crate::reading::Open;
use crate::rename::{Copy, new_id};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use stoa_objects::Error as ObjectsError;
use stoa_objects::s3::{Condition, Headers, Source};
use stoa_vfs::{Allocate, Error, OpenFlags, Result, SetAttr, SetTime, WriteFlags, without_privileges};

impl Bucket {
    /// # Errors
    /// [`Error::ReadOnly`].
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.read_only { Err(Error::ReadOnly) } else { Ok(()) }
    }

    pub(crate) fn sink(&self) -> Sink<'_> {
        let Self { s3, budget, traffic, spill_dir, cache, host, .. } = self;
        Sink { s3, budget, traffic, spill_dir, cache, host }
    }

    /// Lets one more handle write to a file.
    pub(crate) async fn begin_writing(&self, node: &Node, flags: OpenFlags) -> Result<()> {
        let mut draft = node.draft.lock().await;
        let writing = self.drafted(node, &mut draft).await?;
        if writing.writers == 0 {
            let checked = self.check_rights(writing.key(), writing.headers()).await;
            if checked.is_err() && !writing.is_dirty() {
                *draft = None;
                return checked;
            }
        }
        if flags.truncate {
            writing.empty(&self.sink()).await?;
            node.resized(0);
            if flags.clear_privileges {
                self.clear_privileges(node, writing)?;
            }
        }
        if flags.read {
            writing.keeps_all();
        }
        writing.writers += 1;
        Ok(())
    }

    /// The draft of a file: from now on there is one.
    async fn drafted<'d>(&self, node: &Node, draft: &'d mut Option<Draft>) -> Result<&'d mut Draft> {
        let writing = match draft.take() {
            Some(discarded) if discarded.is_discarded() => {
                *draft = Some(discarded);
                return Err(Error::Stale);
            }
            Some(draft) => draft,
            None => self.draft_of(node).await?,
        };
        Ok(draft.insert(writing))
    }

    /// A draft that begins with the content of a file.
    async fn draft_of(&self, node: &Node) -> Result<Draft> {
        // It may have been given up between the look at its name and now: the kernel looks again.
        if node.is_stale() {
            return Err(Error::Stale);
        }
        let version = node.version()?;
        if version.etag.is_none() {
            return Err(Error::Unsupported("writing to an object that the server gives no ETag of"));
        }
        // What it carries stays, whatever its content will be.
        match self.s3.head(&version.key, None).await {
            Ok(info) if info.etag.as_deref() == version.etag.as_deref() => {
                let draft = Draft::of(&version, info);
                // Now, and not when it is closed.
                metadata::check_writable(&draft.headers().metadata)?;
                Ok(draft)
            }
            Ok(_) | Err(ObjectsError::NotFound { .. }) => {
                node.went_stale();
                self.changed(&version.key);
                Err(Error::Stale)
            }
            Err(error) => Err(told(error)),
        }
    }

    /// Writes to an open file.
    pub(crate) async fn write_open(&self, open: &Open, offset: u64, data: Bytes, how: WriteFlags) -> Result<()> {
        let mut draft = open.node.draft.lock().await;
        let writing = draft.as_mut().filter(|_| open.writable).ok_or(Error::BadHandle)?;
        if writing.is_sent(offset..offset.saturating_add(data.len() as u64)) {
            self.publish_or_lose(&open.node, writing).await?;
        }
        writing.write(&self.sink(), offset, data).await?;
        open.node.resized(writing.size());
        if how.clear_privileges {
            self.clear_privileges(&open.node, writing)?;
        }
        Ok(())
    }

    /// Takes set-uid and its like from a file whose content changes, where objects have modes.
    fn clear_privileges(&self, node: &Node, writing: &mut Draft) -> Result<()> {
        let mode = node.attr().mode;
        let left = without_privileges(mode);
        if left == mode || !self.finder.asks_objects() {
            return Ok(());
        }
        let set = SetAttr { mode: Some(left), ..SetAttr::default() };
        writing.carry(&set)?;
        node.changes(&set);
        Ok(())
    }

    /// Reserves a range of a file, or makes it zeros.
    pub(crate) async fn allocate(&self, node: &Node, offset: u64, len: u64, how: Allocate) -> Result<()> {
        if len == 0 {
            return Err(Error::Invalid("an empty range is not allocated"));
        }
        let end = offset.checked_add(len).filter(|end| *end <= OBJECT_BYTES_MAX).ok_or(Error::TooLarge)?;
        let mut draft = node.draft.lock().await;
        let writing = self.drafted(node, &mut draft).await?;
        let size = writing.size();
        let done = match how {
            Allocate::Reserve { keep_size: true } => Ok(()),
            Allocate::Reserve { keep_size: false } => self.resize(node, writing, size.max(end)).await,
            Allocate::PunchHole | Allocate::Zero { keep_size: true } => {
                self.zero(node, writing, offset..end.min(size)).await
            }
            Allocate::Zero { keep_size: false } => self.zero(node, writing, offset..end).await,
            Allocate::Collapse | Allocate::Insert => Err(Error::Unsupported("moving ranges of objects")),
        };
        self.end_unopened(node, &mut draft, done).await
    }

    async fn zero(&self, node: &Node, writing: &mut Draft, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        if writing.is_sent(range.clone()) {
            self.publish_or_lose(node, writing).await?;
        }
        writing.zero(&self.sink(), range)?;
        node.resized(writing.size());
        Ok(())
    }

    /// Puts what was written to a file into the store, all at once.
    pub(crate) async fn publish(&self, node: &Node) -> Result<()> {
        match node.draft.lock().await.as_mut() {
            Some(draft) => self.publish_or_lose(node, draft).await,
            None => Ok(()),
        }
    }

    /// As [`Bucket::publish`], when a descriptor is closed: what was only made, or emptied by opening it, waits until something is written or
    /// the last one is closed.
    pub(crate) async fn publish_filled(&self, node: &Node) -> Result<()> {
        match node.draft.lock().await.as_mut() {
            Some(draft) if draft.is_filled() => self.publish_or_lose(node, draft).await,
            Some(draft) => {
                draft.is_closed();
                draft.check()
            }
            None => Ok(()),
        }
    }

    pub(crate) async fn publish_or_lose(&self, node: &Node, draft: &mut Draft) -> Result<()> {
        let published = self.publish_draft(node, draft).await;
        if published.is_err() {
            // Whoever opens the name from now on gets what is in the store, also before the file is given back.
            self.disown(node);
        }
        published
    }

    /// What was written to a file is not in the store, and the kernel may have it in its cache: the content that is in the store is another
    /// inode from now on.
    pub(crate) fn disown(&self, node: &Node) {
        node.went_stale();
        if let Ok(version) = node.version() {
            let draft = self.made.fetch_add(1, Ordering::Relaxed);
            self.inodes.became(node, Target::Object(Version { etag: None, draft, ..version }));
        }
    }

    /// As [`Bucket::publish`], of a draft that is locked; a failure leaves the inode as it is.
    async fn publish_draft(&self, node: &Node, draft: &mut Draft) -> Result<()> {
        let published = draft.publish(&self.sink()).await;
        if let Some(beside) = draft.take_conflict() {
            self.changed(&beside);
            self.changed(draft.key());
        }
        match &published {
            Ok(Some(_)) => self.rights.granted(draft.key()),
            Err(Error::Denied) => self.rights.refused(),
            _ => {}
        }
        if let Some(version) = published? {
            self.is_stored(node, version);
        }
        Ok(())
    }

    /// What was written to a file is in the store.
    pub(crate) fn is_stored(&self, node: &Node, version: Version) {
        let key = Arc::clone(&version.key);
        // Before it has another content: who has heard of the one before would take that for another file.
        self.changed(&key);
        // The kernel may have all of it: it is opened without a request, as what was read.
        node.sees(version.clone());
        self.inodes.became(node, Target::Object(version));
        node.stored();
        self.is_no_draft(node, &key);
        self.changed(&key);
    }

    /// A file that was made here is in the store, or never gets there.
    pub(crate) fn is_no_draft(&self, node: &Node, key: &str) {
        let mut drafts = self.drafts.lock();
        // Another may have been made of this name.
        if drafts.get(key).is_some_and(|other| other.ino == node.ino) {
            drafts.remove(key);
            self.inodes.forget(node.ino, 1);
        }
    }

    /// What was written to a file does not get into the store.
    async fn is_lost(&self, node: &Node, writing: &mut Draft) {
        writing.give_up().await;
        self.disown(node);
        if let Ok(version) = node.version() {
            self.is_no_draft(node, &version.key);
            self.changed(&version.key);
        }
    }

    /// A handle that could write is given back.
    pub(crate) async fn end_writing(&self, open: &Open) {
        let node = &open.node;
        let mut draft = node.draft.lock().await;
        let Some(writing) = draft.as_mut() else { return };
        writing.writers = writing.writers.saturating_sub(1);
        if writing.writers > 0 {
            return;
        }
        // Closing it has published it, or has said why not.
        if let Err(error) = self.publish_draft(node, writing).await {
            tracing::warn!(%error, ino = %node.ino, "a file was closed that is not in the store");
            self.is_lost(node, writing).await;
        }
        // Opened to write, and not written.
        node.given_up();
        *draft = None;
    }

    /// Changes the attributes of a file: its length; its time, to now; and where objects are asked for their
    /// attributes, mode, owner and time.
    pub(crate) async fn change(&self, node: &Node, set: &SetAttr) -> Result<()> {
        let attr = node.attr();
        let mut set = set.clone();
        if set.clear_privileges && self.finder.asks_objects() {
            set.mode = set.mode.or(Some(without_privileges(attr.mode)));
        }
        let set = without_what_is_so(&set, &attr);
        let says =
            set.mode.is_some() || set.uid.is_some() || set.gid.is_some() || matches!(set.mtime, Some(SetTime::At(_)));
        if says && !self.finder.asks_objects() {
            return Err(Error::Unsupported(
                "mode, owner and time of objects: --attributes objects keeps and shows them",
            ));
        }
        if set.atime.is_some() && set.mtime.is_none() {
            return Err(Error::Unsupported("times of access of objects"));
        }
        let mut draft = node.draft.lock().await;
        draft.as_ref().map_or(Ok(()), Draft::check)?;
        if let Some(size) = set.size.filter(|size| *size != attr.size) {
            self.cut(node, &mut draft, size).await?;
        }
        match draft.as_mut().filter(|draft| draft.is_dirty()) {
            _ if !says && set.mtime.is_none() => Ok(()),
            Some(writing) => {
                writing.carry(&set)?;
                node.changes(&set);
                Ok(())
            }
            None => self.carry(node, draft.as_mut(), &set).await,
        }
    }

    /// Has the object of a file carry what `set` says, by copying it onto itself.
    async fn carry(&self, node: &Node, draft: Option<&mut Draft>, set: &SetAttr) -> Result<()> {
        let write = |headers: &mut Headers| metadata::carry(set, &mut headers.metadata);
        self.set_stored(node, draft, &node.version()?, write).await?;
        node.changed(set);
        Ok(())
    }

    /// Has the object of a file carry what `change` makes of what it carries, by copying it onto itself.
    pub(crate) async fn set_stored(
        &self,
        node: &Node,
        draft: Option<&mut Draft>,
        version: &Version,
        change: impl FnOnce(&mut Headers) -> Result<()>,
    ) -> Result<()> {
        let Some(etag) = &version.etag else {
            return Err(Error::Unsupported("changing an object that the server gives no ETag of"));
        };
        let info = self.s3.head(&version.key, None).await.map_err(told)?;
        // A server may ignore the condition of a copy.
        if info.etag.as_deref() != Some(etag) {
            node.went_stale();
            self.changed(&version.key);
            return Err(Error::Stale);
        }
        let mut headers = info.headers;
        change(&mut headers)?;
        let source = Source { key: version.key.to_string(), version: None, if_match: Some(etag.to_string()) };
        let copy = Copy {
            source,
            size: info.size,
            headers: headers.clone(),
            key: &version.key,
            condition: Condition::IfMatch(etag.to_string()),
            mark: &new_id(),
        };
        let written = self
            .copy_object(&copy)
            .await
            .map_err(|error| if error.is_not_found() { Error::Stale } else { told(error) })?;
        let etag: Arc<str> = written.etag.into();
        if let Some(draft) = draft {
            draft.now_is(Arc::clone(&etag), headers);
        }
        self.changed(&version.key);
        self.inodes.became(node, Target::Object(Version { etag: Some(etag), ..version.clone() }));
        self.changed(&version.key);
        Ok(())
    }

    async fn cut(&self, node: &Node, draft: &mut Option<Draft>, size: u64) -> Result<()> {
        let writing = self.drafted(node, draft).await?;
        let cut = self.resize(node, writing, size).await;
        self.end_unopened(node, draft, cut).await
    }

    /// Stores what was `done` to a file that nobody has open to write, and who would close it.
    async fn end_unopened(&self, node: &Node, draft: &mut Option<Draft>, mut done: Result<()>) -> Result<()> {
        let Some(writing) = draft.as_mut().filter(|writing| writing.writers == 0) else { return done };
        if done.is_ok() {
            done = self.publish_draft(node, writing).await;
        }
        if done.is_err() {
            self.is_lost(node, writing).await;
        }
        node.given_up();
        *draft = None;
        done
    }

    async fn resize(&self, node: &Node, writing: &mut Draft, size: u64) -> Result<()> {
        if writing.is_cut_in_sent(size, &self.sink()) {
            self.publish_or_lose(node, writing).await?;
        }
        writing.truncate(&self.sink(), size).await?;
        node.resized(size);
        Ok(())
    }

    /// Something was changed here about an object, or a directory if the key ends with a slash: what was heard of it before is forgotten.
    pub(crate) fn changed(&self, key: &str) {
        let path = key.strip_suffix('/').unwrap_or(key);
        let (above, component) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
        for beside in [false, true] {
            let mut directory = Directory::new(above);
            for part in crate::escape::parts(component, beside) {
                self.recent.forget(&directory, &part.name);
                if let Some(node) = self.inodes.find(&Target::Directory(directory.clone())) {
                    node.listing.changed(&part.name);
                }
                directory = directory.continued(component.get(..part.end).unwrap_or_default());
            }
        }
    }
}
